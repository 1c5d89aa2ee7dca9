"""ddmin: subsets, then complements, of ever finer splits.

Zeller, Hildebrandt: Simplifying and Isolating Failure-Inducing Input, IEEE TSE 28(2), 2002. Plain: no
cache of outcomes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

from reducer.core.case import Case
from tests.bench.task import Task

T = TypeVar("T")


def minimize(items: Sequence[T], fails: Callable[[Sequence[T]], bool]) -> list[T]:
    """A 1-minimal part of ``items`` that still fails."""
    left, parts = list(items), 2
    while len(left) >= 2:
        subsets = split(left, parts)
        reduced = next((subset for subset in subsets if fails(subset)), None)
        if reduced is not None:
            left, parts = reduced, 2
            continue
        if parts > 2:  # of two parts, a complement is the other part
            complements = ([item for o in subsets if o is not s for item in o] for s in subsets)
            reduced = next((rest for rest in complements if fails(rest)), None)
            if reduced is not None:
                left, parts = reduced, max(parts - 1, 2)
                continue
        if parts >= len(left):
            break
        parts = min(2 * parts, len(left))
    return left


def split(items: Sequence[T], parts: int) -> list[list[T]]:
    """So many parts, of sizes that differ by one at most.

    >>> split(range(7), 3)
    [[0, 1], [2, 3], [4, 5, 6]]
    """
    bounds = [len(items) * number // parts for number in range(parts + 1)]
    return [list(items[start:stop]) for start, stop in pairwise(bounds)]


def run(task: Task) -> Case | None:
    """Over the calls of the graph."""
    return task.keeping(minimize)
