"""Picire as a library, set as its authors advise: no subsets, complements from the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reducer.core.case import Case
from tests.bench.task import Task
from tests.bench.tools import picire_default


def minimize(items: Sequence[str], fails: Callable[[Sequence[str]], bool]) -> list[str]:
    """A 1-minimal part of ``items`` that still fails."""
    from picire.config_iterators import backward, skip

    return picire_default.minimize(items, fails, subset_iterator=skip, complement_iterator=backward)


def run(task: Task) -> Case | None:
    """Over the calls of the graph."""
    return task.keeping(minimize)
