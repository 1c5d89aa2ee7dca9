"""Which items of a sequence are needed, if few are and they lie anywhere?

Bisect for the last needed item, keep it, drop all between it and those already kept, and go on in
front of it. Needed items tend to be neighbours: the one next to the last found is asked about first, for as
long as that is where needed ones are. No set is tested twice.
The idea is in the documentation of Lithium; with a monotone predicate the result is 1-minimal, with
another it still fails but may hold more than needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")


def bisect_last(
    items: Sequence[T],
    fails: Callable[[Sequence[T]], bool],
    foresee: Callable[[Iterable[Sequence[T]]], None] = lambda sets: None,
) -> list[T]:
    """The items that ``fails`` needs, in order. ``fails(items)`` must be known to hold.

    ``foresee`` is told, before each set that is asked about, which ones may be next.

    >>> bisect_last(range(100), lambda kept: {7, 60, 61} <= set(kept))
    [7, 60, 61]
    """
    before, kept = list(items), list[T]()
    neighbours = False

    def next_set(low: int, high: int) -> list[T]:
        return [*before[: (low + high) // 2], *kept] if high - low > 1 else [before[low], *kept]

    while before:
        low, high = 0, len(before)  # with before[:high] it fails, with before[:low] it does not
        middle = high - 1 if neighbours else high // 2
        foresee([[*before[:middle], *kept]] if middle else [])
        if fails(kept):
            break
        while high - low > 1:
            foresee([next_set(middle, high), next_set(low, middle)])
            if fails([*before[:middle], *kept]):
                high = middle
            else:
                low = middle
            middle = (low + high) // 2
        neighbours = not kept or high == len(before)
        kept.insert(0, before[low])
        before = before[:low]
    return kept
