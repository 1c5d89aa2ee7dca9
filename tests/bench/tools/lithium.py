"""Lithium's strategy "minimize": chunks of half the size in each round, from the end; the last is repeated.

After ``Minimize.reduce`` of lithium-reducer 4.0.0 (``repeat`` "last", its default): chunks of one or two
items overlap, and what was tried is not tried again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reducer.core.case import Case
from tests.bench.task import Task


def minimize(items: Sequence[str], fails: Callable[[Sequence[str]], bool]) -> list[str]:
    """A 1-minimal part of ``items`` that still fails."""
    left, tried = list(range(len(items))), set[tuple[int, ...]]()
    size = 1 << max(0, (len(left) - 1).bit_length() - 1)  # the largest power of two below it
    while left:
        end, removed = len(left), False
        while end - size >= 0:
            rest = left[: end - size] + left[end:]
            fresh = tuple(rest) not in tried
            tried.add(tuple(rest))
            if fresh and fails([items[place] for place in rest]):
                left, removed = rest, True
                end -= size
            else:
                end -= 1 if size <= 2 else size
        if size == 1 and not removed:
            break
        while size > 1:
            size //= 2
            if size < len(left):
                break
    return [items[place] for place in left]


def run(task: Task) -> Case | None:
    """Over the calls of the graph."""
    return task.keeping(minimize)
