"""Two bisections, as `polygraphy debug reduce --mode bisect`: for the earliest output, for the latest start.

The first one tries calls as the only output (what they do not need goes), the second one cuts what is
left from the front. Each takes for granted that what fails stays failing when more is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reducer.core.case import Case
from reducer.graph.region import backward_cone
from tests.bench.task import Task

Fails = Callable[[Sequence[str]], bool]


def minimize(items: Sequence[str], fails: Fails) -> list[str]:
    """Where nothing is known of what an item needs: a range."""
    return bisect_twice(items, fails, lambda place: items[: place + 1])


def bisect_twice(
    items: Sequence[str], fails: Fails, needed: Callable[[int], Sequence[str]]
) -> list[str]:
    """``needed(place)``: the items that the one at that place needs, itself included, in order."""
    low, high = 0, len(items) - 1  # it fails with `high` as the last one
    while low < high:
        middle = (low + high) // 2
        if fails(needed(middle)):
            high = middle
        else:
            low = middle + 1
    left = list(needed(high))
    low, high = 0, len(left) - 1  # it fails from `low` on
    while low < high:
        middle = (low + high + 1) // 2
        if fails(left[middle:]):
            low = middle
        else:
            high = middle - 1
    return left[low:]


def run(task: Task) -> Case | None:
    """Over the calls of the graph."""

    def search(items: Sequence[str], fails: Fails) -> list[str]:
        def cone(place: int) -> list[str]:
            wanted = backward_cone(task.case, [items[place]])
            return [name for name in items if name in wanted]

        return bisect_twice(items, fails, cone)

    return task.keeping(search)
