"""Is a result that is known not asked for again, and do the folders of shards merge by copying?"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from reducer.core.errors import BadInput
from reducer.corpus.entry import Versions
from reducer.corpus.executor import Job, shard
from reducer.corpus.outcome import Outcome, Replayed
from reducer.corpus.results import known_first
from reducer.corpus.side import OneSide
from reducer.oracle.interpreter import Interpreter

JOBS = [
    Job(f"b/{name}", Interpreter(python)) for python in ("one", "two") for name in ("x", "y", "z")
]


def run(jobs: Sequence[Job[str]], folder: Path | None, stop: int = 99) -> tuple[int, list[str]]:
    """How many jobs were done, and the results."""
    done = 0

    def do(left: Sequence[Job[str]]) -> Iterator[tuple[Job[str], Replayed]]:
        nonlocal done
        for job in left[:stop]:
            done += 1
            versions = Versions(job.interpreter.python, "2.13.0")
            yield job, Replayed(job.task, "", "", Outcome.FIXED, "why", 1.5, versions)

    found = known_first(jobs, folder, lambda job: (job.task, job.interpreter.python), Replayed, do)
    return done, [f"{result.name} {result.versions}" for _, result in found]


def test_nothing_is_done_twice(tmp_path: Path) -> None:
    first = run(JOBS, tmp_path, stop=2)[1]
    assert len(first) == 2
    every = run(JOBS, tmp_path)[1]
    assert sorted(every) == sorted(run(JOBS, None)[1])
    assert len(list(tmp_path.iterdir())) == 6
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert run(JOBS, tmp_path)[1] == run(JOBS, None)[1]
    assert before == {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}


def test_shards_merge_by_copying(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    whole.mkdir()
    for number in (1, 2, 3):
        part = tmp_path / str(number)
        run(shard(JOBS, f"{number}/3"), part)
        shutil.copytree(part, whole, dirs_exist_ok=True)

    def none(left: Sequence[Job[str]]) -> Iterator[tuple[Job[str], Replayed]]:
        raise AssertionError(left)

    key = lambda job: (job.task, job.interpreter.python)  # noqa: E731
    found = [one for _, one in known_first(JOBS, whole, key, Replayed, none)]
    assert [one.outcome for one in found] == [Outcome.FIXED] * 6


@pytest.mark.parametrize("content", [b"", b"{", b'{"_": "Versions", "executorch": "1"}', b"\xff"])
def test_a_file_that_holds_something_else_is_done_again(tmp_path: Path, content: bytes) -> None:
    run(JOBS, tmp_path)
    for path in tmp_path.iterdir():
        path.write_bytes(content)
    assert len(run(JOBS, tmp_path)[1]) == 6
    assert run(JOBS, tmp_path)[1] == run(JOBS, None)[1]


def test_a_side_comes_back_as_it_was(tmp_path: Path) -> None:
    side = OneSide(
        Outcome.FAILS, "d", Versions("1", "2"), True, (("a", "b", "c"),), ("a", "b"),
        (("P", False),), "fails", b"\0\xff", ("line",),
    )  # fmt: skip
    job = Job("m", Interpreter("p"))

    def do(jobs: Sequence[Job[str]]) -> Iterator[tuple[Job[str], OneSide]]:
        return ((item, side) for item in jobs)

    for _ in range(2):
        [(_, found)] = known_first([job], tmp_path, lambda job: job.task, OneSide, do)
        assert found == side


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="cannot write"):
        run(JOBS, tmp_path / "file" / "results")
