"""What do ``reduce verify``, ``matrix --release`` and ``bisect`` print, write and exit with?"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from corpus_cases import chain, finding, output_folder

from reducer.core.errors import ExitCode, NoEnvironment
from reducer.corpus.entry import Versions
from reducer.corpus.outcome import Outcome, Replayed
from reducer.corpus.reading import Kept, Unreadable
from reducer.corpus.replay import Seen, shown
from reducer.corpus.side import FAILS, PASSES, Model, OneSide, Pair, Task
from reducer.oracle import environments, overlay
from reducer.oracle.interpreter import Interpreter
from reducer.workflows import corpus as corpus_workflow
from reducer.workflows import verify as workflow

MODES = ("one-fake-mode", "two modes", "ExportPass")
VERSIONS = Versions("1.5.1", "2.13.0")
FIX = "--- a/exir/a.py\n+++ b/exir/a.py\n@@ -1 +1 @@\n-VALUE = 1\n+VALUE = 2\n"


@pytest.fixture
def corpus(command: Callable[..., Any], tmp_path: Path) -> Path:
    """Two entries, and an installed package to be fixed."""
    for number, operator in enumerate(("aten.sin.default", "aten.relu.default")):
        folder = output_folder(tmp_path / str(number), finding(chain(operator)))
        (folder / "test_repro.py").write_text("")
        assert command("corpus", "add", str(folder)).code == 0
    return Path("corpus")


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "site" / "executorch"
    (root / "exir").mkdir(parents=True)
    (root / "exir" / "a.py").write_text("VALUE = 1\n")
    monkeypatch.setattr(overlay, "installed", lambda _: root)
    monkeypatch.setattr(overlay, "versions", lambda python: f"3.11 executorch 1.5.1 {python}")
    (tmp_path / "fix.patch").write_text(FIX)
    return root


Does = Callable[[Task, str], OneSide]


@pytest.fixture
def side(monkeypatch: pytest.MonkeyPatch) -> list[Does]:
    """What the side with the fix does: the last of these, given a task and the value that it finds."""
    does: list[Does] = [lambda *_: OneSide(Outcome.FIXED, "", VERSIONS, True, test=PASSES)]

    class Stub:
        asked = 0

        def __init__(self, interpreter: Interpreter, *_: object) -> None:
            self.overlay = interpreter.overlay

        def __enter__(self) -> Stub:
            return self

        def __exit__(self, *_: object) -> None: ...

        def __call__(self, task: Task) -> OneSide:
            Stub.asked += 1
            if isinstance(task, Pair):
                return OneSide(Outcome.FIXED, lines=("Status: NOT bitwise equal",))
            if self.overlay:
                return does[-1](task, (Path(self.overlay) / "executorch/exir/a.py").read_text())
            if isinstance(task, Model):
                return OneSide(Outcome.FIXED, "", VERSIONS, True, pte=b"same")
            return OneSide(Outcome.FAILS, "", VERSIONS, True, (MODES,), MODES[:2], test=FAILS)

    monkeypatch.setattr(workflow, "Side", Stub)
    does.append(good)
    return does


def good(task: Task, value: str) -> OneSide:
    assert value == "VALUE = 2\n"
    if isinstance(task, Model):
        return OneSide(Outcome.FIXED, "", VERSIONS, True, pte=b"same")
    return OneSide(Outcome.FIXED, "", VERSIONS, True, test=PASSES)


VERIFY = ("verify", "--patch", "fix.patch", "--model", "gated")


def test_a_good_fix(command: Callable[..., Any], corpus: Path, side: list[Does]) -> None:
    result = command(*VERIFY, "--markdown", "table.md")
    assert result.code == 0, result.err
    assert result.out.startswith("### Fix verified: 2 fixed; healthy models: none broken\n")
    assert result.out.count("| still fails | lowers | fails → passes | fixed |") == 2
    assert "`.pte` byte-identical: portable 1 of 1, vulkan 1 of 1, xnnpack 1 of 1." in result.out
    assert "Changed: `exir/a.py`." in result.out
    assert "no longer: one-fake-mode: two modes after ExportPass" in result.out
    assert Path("table.md").read_text() == result.out
    assert result.err.count("with the fix") == 5


def test_a_fix_that_does_nothing(
    command: Callable[..., Any], corpus: Path, side: list[Does]
) -> None:
    def stub(task: Task, value: str) -> OneSide:
        if isinstance(task, Model):
            return good(task, value)
        return OneSide(Outcome.FAILS, "", VERSIONS, True, (MODES,), MODES[:2], test=FAILS)

    side.append(stub)
    result = command(*VERIFY)
    assert result.code == ExitCode.NOT_VERIFIED
    assert "### Fix not verified: 2 still failing" in result.out


def test_a_fix_that_hides(command: Callable[..., Any], corpus: Path, side: list[Does]) -> None:
    def bad(task: Task, value: str) -> OneSide:
        if isinstance(task, Model):
            return good(task, value)
        return OneSide(Outcome.FIXED, "", VERSIONS, True, (MODES,), MODES[:2], test=FAILS)

    side.append(bad)
    result = command(*VERIFY, "--json")
    assert result.code == ExitCode.NOT_VERIFIED
    told = json.loads(result.out)
    assert [entry["change"] for entry in told["entries"]] == ["hidden, not fixed"] * 2
    assert not told["verified"]


def test_other_bytes_and_a_broken_model(
    command: Callable[..., Any], corpus: Path, side: list[Does]
) -> None:
    def other(task: Task, value: str) -> OneSide:
        if not isinstance(task, Model):
            return good(task, value)
        if task.backend == "portable":
            return OneSide(Outcome.FAILS, "to_edge: KeyError", VERSIONS)
        return OneSide(Outcome.FIXED, "", VERSIONS, True, pte=b"other")

    side.append(other)
    result = command(*VERIFY)
    assert result.code == ExitCode.NOT_VERIFIED
    assert "| gated | **newly broken** | differs | differs |" in result.out
    assert "vulkan 0 of 1" in result.out
    assert result.out.count("Status: NOT bitwise equal") == 2
    assert "with the fix: to\\_edge: KeyError" in result.out


def test_entries_that_have_to_be_fixed(
    command: Callable[..., Any], corpus: Path, side: list[Does]
) -> None:
    names = [f"vulkan/{path.name}" for path in sorted((corpus / "vulkan").iterdir())]

    def half(task: Task, value: str) -> OneSide:
        if task.name == names[1]:
            return OneSide(Outcome.FAILS, "", VERSIONS, test=FAILS)
        return good(task, value)

    side.append(half)
    assert command(*VERIFY, "--fixes", names[0]).code == 0
    result = command(*VERIFY, "--fixes", names[0], "--fixes", names[1])
    assert result.code == ExitCode.NOT_VERIFIED
    assert f"meant to be fixed and not: {names[1]}" in result.out


def test_shards_and_results(
    command: Callable[..., Any],
    corpus: Path,
    side: list[Does],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = command(*VERIFY, "--json")
    for number in (1, 2):
        result = command(*VERIFY, "--shard", f"{number}/2", "--results", f"part{number}")
        assert result.code in (0, ExitCode.NOT_VERIFIED)
        shutil.copytree(f"part{number}", "all", dirs_exist_ok=True)

    def nothing(*_: object) -> Iterator[None]:
        raise AssertionError("a job was done again")

    monkeypatch.setattr(workflow, "executed", nothing)
    merged = command(*VERIFY, "--json", "--results", "all")
    assert (merged.code, merged.out) == (0, whole.out)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "one of --patch, --patch-module and --python"),
        (("--patch", "fix.patch", "--patch-module", "a=b"), "one of --patch"),
        (("--patch", "none.patch"), "none.patch cannot be read"),
        (("--patch", "old.patch"), "hunk 1 of 1 does not fit exir/a.py"),
        (("--patch-module", "executorch.exir.a"), "not of the form NAME=FILE"),
        (("--patch-module", "executorch.exir.no=fix.patch"), "has no module"),
        (("--patch", "fix.patch", "--model", "unknown"), "--model 'unknown' is unknown"),
        (("--patch", "fix.patch", "--fixes", "unknown"), "no entry is called"),
        (("--patch", "fix.patch", "--base", "/no/python"), "--base '/no/python' cannot be run"),
        (("--python", sys.executable), "is the side without the fix as well"),
    ],
)
def test_bad_input(
    command: Callable[..., Any],
    corpus: Path,
    side: list[Does],
    arguments: tuple[str, ...],
    message: str,
) -> None:
    Path("old.patch").write_text(FIX.replace("VALUE = 1", "VALUE = 0"))
    result = command("verify", *arguments)
    assert result.code == ExitCode.BAD_INPUT
    assert message in result.err
    assert len(result.err.splitlines()) <= 3


def test_two_interpreters_with_the_same_releases(
    command: Callable[..., Any], corpus: Path, side: list[Does], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is kept of one side is not taken for the other."""
    monkeypatch.setattr(overlay, "versions", lambda _: "3.11 executorch 1.5.1")
    Path("python").write_text("#!/bin/sh\n")
    Path("python").chmod(0o755)
    arguments = ("verify", "--python", "./python", "--model", "gated", "--results", "kept")
    result = command(*arguments, "--json")
    assert result.code == ExitCode.NOT_VERIFIED
    assert {e["change"] for e in json.loads(result.out)["entries"]} == {"still failing"}
    assert len(list(Path("kept").iterdir())) == 10


def test_without_executorch(
    command: Callable[..., Any],
    corpus: Path,
    side: list[Does],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def none(python: str) -> str:
        raise NoEnvironment(f"{python} has no executorch, or no torch")

    monkeypatch.setattr(overlay, "versions", none)
    assert command(*VERIFY).code == ExitCode.NO_ENVIRONMENT


@pytest.fixture
def releases(monkeypatch: pytest.MonkeyPatch) -> dict[str, Outcome]:
    """What entries do with each release; others cannot be installed."""
    does: dict[str, Outcome] = {}

    class Stub:
        def __init__(self, interpreter: Interpreter, *_: object) -> None:
            self.release = interpreter.python.rpartition("/")[2]

        def __enter__(self) -> Stub:
            return self

        def __exit__(self, *_: object) -> None: ...

        def __call__(self, found: Kept | Unreadable) -> Replayed:
            assert isinstance(found, Kept)
            return shown(found, Seen(does[self.release]), Versions(self.release, "2.13.0"))

    def interpreter(release: str, say: Callable[[str], None]) -> str:
        environments.requirements(release)
        if release not in does:
            raise NoEnvironment(f"executorch=={release} cannot be installed")
        say(f"installing {release}")
        return f"/envs/{release}"

    monkeypatch.setattr(corpus_workflow, "Replayer", Stub)
    monkeypatch.setattr(environments, "interpreter", interpreter)
    return does


def test_matrix_of_releases(
    command: Callable[..., Any], corpus: Path, releases: dict[str, Outcome]
) -> None:
    releases |= {"1.4.1": Outcome.FIXED, "1.5.1": Outcome.FAILS}
    result = command("matrix", "--release", "1.4.1", "--release", "1.5.1", "--results", "kept")
    assert result.code == 0
    head, _, *rows = result.out.splitlines()
    assert head == (
        "| entry | fails with | executorch 1.4.1, torch 2.13.0 | executorch 1.5.1, torch 2.13.0 |"
    )
    assert all(row.endswith("| fixed | still fails |") for row in rows)
    releases |= {"1.4.1": Outcome.FAILS}  # what is kept is not asked for again
    again = command("matrix", "--release", "1.4.1", "--release", "1.5.1", "--results", "kept")
    assert again.out == result.out
    assert command("matrix", "--release", "1.3").code == ExitCode.NO_ENVIRONMENT
    assert command("matrix", "--release", "99.1").code == ExitCode.BAD_INPUT


def test_bisect(command: Callable[..., Any], corpus: Path, releases: dict[str, Outcome]) -> None:
    name = next((corpus / "vulkan").iterdir()).name
    releases |= {
        "1.0": Outcome.FIXED,
        "1.3": Outcome.FIXED,
        "1.4": Outcome.FAILS,
        "1.5": Outcome.FAILS,
    }
    result = command("bisect", name)
    assert result.code == 0
    assert (
        result.out
        == f"vulkan/{name} fails since executorch 1.4: with 1.3 it does not\n"
    )  # fmt: skip
    told = json.loads(command("bisect", name, "--json", "--release", "1.2", "--release", "1.4").out)
    assert (told["first_failing"], told["last_passing"]) == ("1.4", None)
    assert told["fails"] == {"1.2": None, "1.4": True}
    releases |= {"1.5": Outcome.FIXED, "1.4": Outcome.FIXED}
    assert "fails with none of: 1.0, 1.3, 1.4, 1.5" in command("bisect", name).out
    assert command("bisect", name).code == ExitCode.NO_FAILURE
    releases |= {"1.0": Outcome.FAILS}
    assert "fails since executorch 1.0" in command("bisect", name, "--every").out
    assert command("bisect", name, "--release", "x").code == ExitCode.BAD_INPUT
