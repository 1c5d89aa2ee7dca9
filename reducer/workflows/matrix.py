"""With which releases do the entries of a corpus fail?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from reducer.corpus.entry import Versions
from reducer.corpus.executor import Job
from reducer.corpus.outcome import Replayed
from reducer.corpus.reading import Kept, Unreadable
from reducer.workflows.corpus import CheckSettings, run_jobs


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
    found: Sequence[Kept | Unreadable],
    pythons: Sequence[str],
    settings: CheckSettings,
    report: Callable[[Replayed], None],
) -> Matrix:
    """Try all entries on all interpreters, one interpreter after the other.

    Raises NoEnvironment if one of them has no torch or no executorch.
    """
    versions: dict[str, Versions] = {}
    cells = {}
    jobs = [Job(item, python) for python in pythons for item in found]
    for job, replayed in run_jobs(jobs, settings):
        if replayed.versions is not None:
            versions.setdefault(job.python, replayed.versions)
        cells[replayed.name, job.python] = replayed
        report(replayed)
    return Matrix(
        tuple((python, versions[python]) for python in pythons if python in versions), cells
    )
