"""Which items of a sequence are needed, if few are and they lie anywhere?

Bisect for the last needed item, keep it, drop all between it and those already kept, and go on in
front of it. Behind the first one found the search gallops, since needed items tend to be neighbours: one
test for an adjacent one, at most about twice the logarithm of the distance for others. No set is tested
twice.
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
    while before and not fails(kept):
        low, high = 0, len(before)  # with before[:high] it fails, with before[:low] it does not
        step = 1
        while kept and high - low > 1:  # needed items lie close together: look near the last one
            middle = max(low + 1, len(before) - step)
            if not fails([*before[:middle], *kept]):
                low = middle
                break
            high, step = middle, 2 * step
        while high - low > 1:
            middle = (low + high) // 2
            if fails([*before[:middle], *kept]):
                high = middle
            else:
                low = middle
        kept.insert(0, before[high - 1])
        before = before[: high - 1]
    return kept
