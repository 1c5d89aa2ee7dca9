"""With which releases do the entries of a corpus fail, and with which one did a failure begin?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from reducer.corpus.entry import Versions
from reducer.corpus.executor import Job, LocalProcesses
from reducer.corpus.outcome import Outcome, Replayed
from reducer.corpus.reading import Kept
from reducer.oracle.interpreter import Interpreter
from reducer.search.first_failing import First, first_failing
from reducer.workflows.corpus import CheckSettings, Found, OpenExecutor, run_jobs


@dataclass(frozen=True)
class Matrix:
    """What each entry does in each environment: ``cells`` by entry and interpreter."""

    environments: tuple[tuple[str, Versions], ...]
    cells: dict[tuple[str, str], Replayed]

    @property
    def names(self) -> list[str]:
        """The entries."""
        return sorted({name for name, _ in self.cells})


def matrix(
    found: Sequence[Found],
    pythons: Sequence[str],
    settings: CheckSettings,
    report: Callable[[Replayed], None],
    *,
    open_executor: OpenExecutor = LocalProcesses,
) -> Matrix:
    """Try all entries on all interpreters, one interpreter after the other.

    Raises NoEnvironment if one of them has no torch or no executorch.
    """
    jobs = [Job(item, Interpreter(python)) for python in pythons for item in found]
    seen: dict[str, Versions] = {}
    cells = {}
    for job, replayed in run_jobs(jobs, settings, open_executor=open_executor):
        if replayed.versions is not None:
            seen.setdefault(job.interpreter.python, replayed.versions)
        cells[replayed.name, job.interpreter.python] = replayed
        report(replayed)
    return Matrix(tuple((python, seen[python]) for python in pythons if python in seen), cells)


def bisect(
    kept: Kept,
    releases: Sequence[str],
    environment: Callable[[str], str],
    settings: CheckSettings,
    report: Callable[[str, Replayed | str], None],
    *,
    monotone: bool = True,
    open_executor: OpenExecutor = LocalProcesses,
) -> First:
    """The first of these releases, in their order, with which an entry fails.

    ``environment`` gives the interpreter that has a release, "" if there is none. ``report`` is told
    what came of each release that is asked.
    """

    def fails(place: int) -> bool | None:
        release = releases[place]
        python = environment(release)
        if not python:
            report(release, "there is no environment for it")
            return None
        [(_, replayed)] = run_jobs(
            [Job(kept, Interpreter(python))], settings, open_executor=open_executor
        )
        report(release, replayed)
        if replayed.outcome in (Outcome.FIXED, Outcome.FAILS):
            return replayed.outcome is Outcome.FAILS
        return None

    return first_failing(len(releases), fails, monotone=monotone)
