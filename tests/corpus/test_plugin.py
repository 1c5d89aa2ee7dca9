"""Is every entry a test, a known failure a strict xfail, and nothing of a corpus imported?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from corpus_cases import chain, finding, output_folder

from reducer import pytest_plugin
from reducer.core.signature import signature_of
from reducer.core.stage import Stage
from reducer.core.wire import Attempt
from reducer.corpus import replay
from reducer.corpus.outcome import Outcome, Replayed
from reducer.corpus.reading import Kept, Unreadable
from reducer.corpus.store import Corpus
from reducer.workflows import corpus as workflow


@dataclass
class Reports:
    """Takes what pytest says of each test."""

    seen: dict[str, tuple[str, str]] = field(default_factory=dict)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.skipped:
            outcome = "xfailed" if hasattr(report, "wasxfail") else report.outcome
            told = getattr(report, "wasxfail", "") or str(report.longrepr or "")
            self.seen[report.nodeid.partition("::")[2]] = (outcome, told)


Run = Callable[..., tuple[int, dict[str, tuple[str, str]]]]


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    place = Corpus(tmp_path / "corpus")
    for number, operator in enumerate(("aten.sin.default", "aten.relu.default")):
        workflow.add(output_folder(tmp_path / str(number), finding(chain(operator))), place)
    return place


@pytest.fixture
def run(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs pytest on the corpus; every entry then does what it is told to do."""
    monkeypatch.chdir(tmp_path)

    def start(outcome: Outcome, *arguments: str) -> tuple[int, dict[str, tuple[str, str]]]:
        class Stub(replay.Replayer):
            def __call__(self, found: Kept | Unreadable) -> Replayed:
                if isinstance(found, Unreadable):
                    return super().__call__(found)
                return replay.shown(found, replay.Seen(outcome, "because"))

        monkeypatch.setattr(replay, "Replayer", Stub)
        reports = Reports()
        command = ["-p", pytest_plugin.__name__, "-p", "no:cacheprovider", "-q", *arguments]
        options = [f"--reduce-corpus={corpus.root}", f"--rootdir={tmp_path}", "-c", "/dev/null"]
        return int(pytest.main([*command, *options], plugins=[reports])), reports.seen

    return start


@pytest.mark.parametrize(
    ("outcome", "code", "wanted", "words"),
    [
        (Outcome.FAILS, 0, "xfailed", "known failure: preprocess: AssertionError: two fake modes"),
        (Outcome.FIXED, 1, "failed", "fixed: promote (reduce corpus promote vulkan/"),
        (Outcome.DIFFERENT, 1, "failed", "fails differently: because"),
        (Outcome.FLAKY, 1, "failed", "flaky: because"),
        (Outcome.CANNOT_RUN, 0, "skipped", "cannot run here: because"),
    ],
)
def test_known_failures(
    run: Run, corpus: Corpus, outcome: Outcome, code: int, wanted: str, words: str
) -> None:
    ended, seen = run(outcome)
    assert ended == code
    assert set(seen) == {kept.name for kept in corpus.entries()}
    assert all(found == wanted and words in told for found, told in seen.values()), seen


@pytest.mark.parametrize(
    ("outcome", "wanted"),
    [
        (Outcome.FIXED, "passed"),
        (Outcome.FAILS, "failed"),
        (Outcome.DIFFERENT, "failed"),
        (Outcome.CANNOT_RUN, "skipped"),
    ],
)
def test_promoted_entries(run: Run, corpus: Corpus, outcome: Outcome, wanted: str) -> None:
    names = [kept.name for kept in corpus.entries()]
    list(workflow.promote(corpus, names))
    ended, seen = run(outcome)
    assert (ended, {found for found, _ in seen.values()}) == (int(wanted == "failed"), {wanted})


def test_nothing_of_a_corpus_is_imported(run: Run, corpus: Corpus) -> None:
    for folder in (corpus.root, *corpus.root.glob("*"), *corpus.root.glob("*/*")):
        for name in ("conftest.py", "test_this.py", "__init__.py"):
            (folder / name).write_text("raise SystemExit('imported')\n")
    ended, seen = run(Outcome.FAILS)
    assert (ended, len(seen)) == (0, 2)


def test_what_is_no_entry_fails(run: Run, corpus: Corpus) -> None:
    broken = corpus.entries()[0]
    (broken.folder / "finding.json").write_text("{")
    ended, seen = run(Outcome.FAILS)
    assert ended == 1
    assert seen[broken.name][0] == "failed"
    assert "unreadable" in seen[broken.name][1]


def test_other_tests_run_beside_them(run: Run, tmp_path: Path) -> None:
    (tmp_path / "test_own.py").write_text("def test_own(): pass\n")
    assert len(run(Outcome.FAILS)[1]) == 2
    assert len(run(Outcome.FAILS, "test_own.py")[1]) == 3
    assert len(run(Outcome.FAILS, "-k", "sin or vulkan")[1]) == 2


def test_the_same_failure_is_told_from_others() -> None:
    found = finding()
    other = finding(message="something else").failure
    wanted = signature_of(found.failure)
    assert replay.judged(Attempt(found.failure), wanted).outcome is Outcome.FAILS
    assert replay.judged(Attempt(), wanted).outcome is Outcome.FIXED
    assert replay.judged(Attempt(invalid="no"), wanted) == replay.Seen(None, "no")
    seen = replay.judged(Attempt(other), wanted)
    assert seen.outcome is Outcome.DIFFERENT
    assert str(Stage.PREPROCESS) in seen.detail
    assert "something else" in seen.detail
