"""What does ``reduce corpus`` print, write and exit with? And ``reduce --corpus``?"""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from corpus_cases import chain, finding, output_folder

from reducer.core.errors import ExitCode
from reducer.corpus.entry import Versions
from reducer.corpus.executor import LocalProcesses
from reducer.corpus.outcome import Outcome, Replayed
from reducer.corpus.reading import Kept, Unreadable
from reducer.corpus.replay import Seen, shown
from reducer.emit.record import write_finding
from reducer.oracle import overlay
from reducer.oracle.interpreter import Interpreter
from reducer.workflows import corpus as workflow

OPERATORS = ("aten.sin.default", "aten.relu.default", "aten.item.default")


@pytest.fixture
def corpus(command: Callable[..., Any], tmp_path: Path) -> Path:
    """Three entries, added by the command."""
    folders = [
        str(output_folder(tmp_path / str(number), finding(chain(operator))))
        for number, operator in enumerate(OPERATORS)
    ]
    result = command("corpus", "add", *folders, "--report", "https://example.org/issues/1")
    assert result.code == 0
    assert result.out.count("added vulkan/") == 3
    assert result.out.count("the same culprit") == 2
    return Path("corpus")


@pytest.fixture
def replays(monkeypatch: pytest.MonkeyPatch) -> dict[str, Outcome]:
    """What entries do, by a word in their operators; others still fail."""
    does: dict[str, Outcome] = {}

    class Stub:
        def __init__(self, *_: object) -> None: ...

        def __enter__(self) -> Stub:
            return self

        def __exit__(self, *_: object) -> None: ...

        def __call__(self, found: Kept | Unreadable) -> Replayed:
            assert isinstance(found, Kept)
            chosen = [
                outcome for word, outcome in does.items() if word in str(found.entry.operators)
            ]
            seen = Seen(chosen[0] if chosen else Outcome.FAILS, "because")
            return shown(found, seen, Versions("1.6.0", "2.14.0"))

    monkeypatch.setattr(workflow, "Replayer", Stub)
    monkeypatch.setattr(overlay, "versions", lambda _: "3.11 executorch 1.6.0 torch 2.14.0")
    return does


def test_list_and_show(command: Callable[..., Any], corpus: Path) -> None:
    listed = json.loads(command("corpus", "list", "--json").out)
    assert [entry["operators"] for entry in listed["entries"]] != []
    assert {entry["report"] for entry in listed["entries"]} == {"https://example.org/issues/1"}
    text = command("corpus", "list").out
    assert "torch.fake:find" in text
    assert "3 entries" in text
    name = listed["entries"][0]["name"]
    told = command("corpus", "show", name.rpartition("/")[2][:8]).out
    assert told.startswith(name)
    assert "executorch 1.5.1, torch 2.13.0" in told
    assert "sys.exit(0)" in told
    assert command("corpus", "show", "nothing").code == ExitCode.BAD_INPUT


@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        (Outcome.FAILS, 0),
        (Outcome.CANNOT_RUN, 0),
        (Outcome.FIXED, 8),
        (Outcome.DIFFERENT, 8),
        (Outcome.FLAKY, 8),
    ],
)
def test_check(
    command: Callable[..., Any],
    corpus: Path,
    replays: dict[str, Outcome],
    outcome: Outcome,
    code: int,
) -> None:
    replays["relu"] = outcome
    result = command("corpus", "check", "--junit", "junit.xml", "--markdown", "table.md", "--json")
    assert result.code == code
    entries = json.loads(result.out)["entries"]
    assert sorted(entry["outcome"] for entry in entries).count(str(outcome)) in (1, 3)
    suite = ElementTree.parse("junit.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("3", str(int(code == 8)))
    assert Path("table.md").read_text().count("\n| vulkan/") == 3
    assert result.err.count("vulkan/") >= 3


def test_ctrl_c(
    command: Callable[..., Any], corpus: Path, replays: dict[str, Outcome], monkeypatch: Any
) -> None:
    def interrupted(*_: object) -> Replayed:
        raise KeyboardInterrupt

    monkeypatch.setattr(workflow.Replayer, "__call__", interrupted)
    result = command("corpus", "check")
    assert (result.code, result.err) == (ExitCode.INTERRUPTED, "reduce: interrupted\n")


def test_the_summary_of_a_github_run(
    command: Callable[..., Any],
    corpus: Path,
    replays: dict[str, Outcome],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path("summary.md").write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    assert command("corpus", "check").code == 0
    written = Path("summary.md").read_text()
    assert written.startswith("before\n### Corpus: 3 still fails: as recorded")


def test_a_fix_is_promoted_and_watched(
    command: Callable[..., Any], corpus: Path, replays: dict[str, Outcome]
) -> None:
    replays["relu"] = Outcome.FIXED
    result = command("corpus", "check", "--record")
    assert result.code == ExitCode.CHANGED
    [advice] = [line for line in result.err.splitlines() if "promote" in line]
    name = advice.rpartition(" ")[2].rstrip(")")
    assert command("corpus", "promote", name).code == 0
    assert command("corpus", "check").code == 0
    assert "executorch 1.6.0, torch 2.14.0" in command("corpus", "show", name).out
    replays["relu"] = Outcome.FAILS
    assert "fails again" in command("corpus", "check").err


def test_shards_are_the_whole(
    command: Callable[..., Any], corpus: Path, replays: dict[str, Outcome]
) -> None:
    parts = [
        json.loads(command("corpus", "check", "--shard", f"{n}/2", "--json").out)["entries"]
        for n in (1, 2)
    ]
    assert [len(part) for part in parts] == [2, 1]
    for n in (1, 2):
        assert command("corpus", "check", "--shard", f"{n}/2", "--results", "kept").code == 0
    replays["aten"] = Outcome.FIXED  # what is kept is not asked for again
    assert command("corpus", "check", "--results", "kept").code == 0
    replays.clear()
    assert len({entry["name"] for part in parts for entry in part}) == 3
    for bad in ("0/2", "3/2", "x", "1/", "/"):
        assert command("corpus", "check", "--shard", bad).code == ExitCode.BAD_INPUT


def test_matrix(command: Callable[..., Any], corpus: Path, replays: dict[str, Outcome]) -> None:
    replays["relu"] = Outcome.FIXED
    result = command("matrix", "--python", sys.executable)
    head, _, *rows = result.out.splitlines()
    assert head == "| entry | fails with | executorch 1.6.0, torch 2.14.0 |"
    assert sorted(row.rpartition(" | ")[2] for row in rows) == ["fixed |", *["still fails |"] * 2]
    told = json.loads(command("matrix", "--json", "--shard", "1/3").out)
    assert told["environments"][0]["executorch"] == "1.6.0"
    assert len(told["entries"]) == 1


def test_prune_and_minimise(command: Callable[..., Any], corpus: Path) -> None:
    names = [
        entry["name"] for entry in json.loads(command("corpus", "list", "--json").out)["entries"]
    ]
    assert "would remove" in command("corpus", "prune", names[0], "--dry-run").out
    assert (corpus / names[0]).exists()
    assert command("corpus", "prune", names[0]).code == 0
    assert not (corpus / names[0]).exists()
    assert command("corpus", "minimise").out == "nothing to remove\n"


def test_export(command: Callable[..., Any], corpus: Path) -> None:
    for name in ("one.zip", "two.zip"):
        assert command("corpus", "export", name).code == 0
    assert Path("one.zip").read_bytes() == Path("two.zip").read_bytes()
    with zipfile.ZipFile("one.zip") as archive:
        archive.extractall("again")
    assert "3 entries" in command("corpus", "list", "again").out
    assert command("corpus", "export", "all.jsonl").code == 0
    lines = [json.loads(line) for line in Path("all.jsonl").read_text().splitlines()]
    assert [line["stage"] for line in lines] == ["preprocess"] * 3
    assert command("corpus", "export", "all.txt").code == ExitCode.BAD_INPUT


def test_no_corpus(command: Callable[..., Any]) -> None:
    for words in (("list",), ("check",), ("show", "x"), ("minimise",), ("promote", "x")):
        result = command("corpus", *words)
        assert (result.code, "corpus is no folder" in result.err) == (ExitCode.BAD_INPUT, True)


def test_what_was_reduced_is_added(
    command: Callable[..., Any],
    workflow_that: Callable[..., Any],
    finished: Callable[..., Any],
) -> None:
    def ends(_: object) -> Any:
        outcome = finished()
        write_finding(outcome.finding, outcome.folder.root)
        return outcome

    Path("net.py").write_text("x = 1\n")
    workflow_that(ends)
    assert "added vulkan/" in command("net.py", "--corpus", "mine").out
    assert "known already: vulkan/" in command("net.py", "--corpus", "mine").out
    told = json.loads(command("net.py", "--corpus", "mine", "--json").out)
    assert (Path("mine") / told["corpus_entry"] / "repro.py").exists()


def test_what_is_not_finished_is_not_added(
    command: Callable[..., Any], workflow_that: Callable[..., Any], finished: Callable[..., Any]
) -> None:
    Path("net.py").write_text("x = 1\n")
    workflow_that(finished(ExitCode.STOPPED))
    assert command("net.py", "--corpus", "mine").code == ExitCode.STOPPED
    assert not Path("mine").exists()


def test_an_executor_gives_results_as_they_come_and_stops() -> None:
    class Slow:
        opened = 0

        def __enter__(self) -> Slow:
            type(self).opened += 1
            return self

        def __exit__(self, *_: object) -> None:
            type(self).opened -= 1

        def __call__(self, found: Kept | Unreadable) -> Replayed:
            if found.reason == "raises":  # type: ignore[union-attr]
                raise ValueError("no")
            return Replayed(found.name, "", "", Outcome.UNREADABLE)

    from reducer.corpus.executor import Job

    def jobs(executor: LocalProcesses, *reasons: str) -> None:
        for reason in reasons:
            executor.submit(Job(Unreadable(Path(f"b/{reason}"), reason), Interpreter()))

    executor = LocalProcesses(lambda _: Slow(), at_once=3)
    jobs(executor, *"abcdef")
    assert sorted(done.name for _, done in executor.results()) == [f"b/{x}" for x in "abcdef"]
    jobs(executor, "g")
    assert [done.name for _, done in executor.results()] == ["b/g"]
    jobs(executor, "raises")
    with pytest.raises(ValueError, match="no"):
        list(executor.results())
    executor.stop()
    assert Slow.opened == 0
