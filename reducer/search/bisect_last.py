"""Which items of a sequence are needed, if few are and they lie anywhere?

Bisect for the last needed item, keep it, drop all between it and those already kept, and go on in
front of it. Needed items tend to be neighbours: the one next to the last found is asked about first, for as
long as that is where needed ones are. No set is tested twice.
The idea is in the documentation of Lithium; with a monotone predicate the result is 1-minimal, with
another it still fails but may hold more than needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def bisect_last(items: Sequence[T], fails: Callable[[Sequence[T]], bool]) -> list[T]:
    """The items that ``fails`` needs, in order. ``fails(items)`` must be known to hold.

    >>> bisect_last(range(100), lambda kept: {7, 60, 61} <= set(kept))
    [7, 60, 61]
    """
    before, kept = list(items), list[T]()
    neighbours = True
    while before and not fails(kept):
        low, high = 0, len(before)  # with before[:high] it fails, with before[:low] it does not
        if kept and neighbours and high > 1:
            if fails([*before[:-1], *kept]):
                high -= 1
            else:
                low = high - 1
        while high - low > 1:
            middle = (low + high) // 2
            if fails([*before[:middle], *kept]):
                high = middle
            else:
                low = middle
        neighbours = not kept or high == len(before)
        kept.insert(0, before[high - 1])
        before = before[: high - 1]
    return kept
