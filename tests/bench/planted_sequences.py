"""How many calls do searches take where the answer is known? Bugs planted in sequences, no torch.

Of ``n`` items ``m`` are needed, and nothing else counts: the predicate is monotone, so the least number of
yes-or-no questions is known: ``log2(C(n, m))`` to find them, ``m`` to show that each one is needed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

SIZES = (31, 128, 512, 2048, 5000)
Search = Callable[[Sequence[int], Callable[[Sequence[int]], bool]], Sequence[int]]


class TooMany(Exception):
    """More questions than are allowed."""


@dataclass
class Planted:
    """The predicate, which counts."""

    needed: frozenset[int]
    most: int
    calls: int = 0
    asked: set[int] = field(default_factory=set)

    def __call__(self, kept: Sequence[int]) -> bool:
        if self.calls >= self.most:
            raise TooMany
        self.calls += 1
        self.asked.add(hash(tuple(kept)))
        return self.needed <= set(kept)


@dataclass(frozen=True)
class Score:
    """Calls (different ones among them), items left, seconds of the search itself; 0 left: it gave up."""

    calls: int
    unique: int
    left: int
    seconds: float


def score(search: Search, n: int, needed: Sequence[int], most: int) -> Score:
    """Run a search. Raises ValueError if what it leaves does not hold."""
    fails, began = Planted(frozenset(needed), most), time.monotonic()
    try:
        left = search(range(n), fails)
    except TooMany:
        left = []
    seconds = time.monotonic() - began
    if left and not fails.needed <= set(left):
        raise ValueError(f"{sorted(fails.needed)} are needed, left are {sorted(left)}")
    return Score(fails.calls, len(fails.asked), len(left), seconds)


def bugs(n: int) -> dict[str, tuple[int, ...]]:
    """Which items are needed: one, two neighbours, three and eight spread over all."""
    middle = n * 5 // 9
    return {
        "1": (middle,),
        "2 adjacent": (middle, middle + 1),
        "3 spread": spread(n, 3),
        "8 spread": spread(n, 8),
    }


def spread(n: int, m: int) -> tuple[int, ...]:
    """As even as can be, off both ends.

    >>> spread(31, 3)
    (5, 15, 25)
    """
    return tuple((2 * number + 1) * n // (2 * m) for number in range(m))


def bound(n: int, m: int) -> int:
    """The fewest questions that can find ``m`` of ``n`` and show that they are needed.

    >>> bound(31, 2)
    11
    """
    return math.ceil(math.log2(math.comb(n, m))) + m


def table(searches: dict[str, Search], sizes: Sequence[int], most: int) -> Iterator[str]:
    """Lines: one per bug, per search calls and, where more than needed are left, how many."""
    width = 17
    yield f"{'n, m':<18}{'bound':>6}" + "".join(f"{name:>{width}}" for name in searches)
    for n in sizes:
        for name, needed in bugs(n).items():
            cells = [
                _cell(score(search, n, needed, most), len(needed)) for search in searches.values()
            ]
            label = f"{n}, {name}"
            yield f"{label:<18}{bound(n, len(needed)):>6}" + "".join(
                f"{cell:>{width}}" for cell in cells
            )


def _cell(found: Score, needed: int) -> str:
    if not found.left:
        return f">{found.calls}"
    repeats = f" ({found.unique})" if found.unique < found.calls else ""
    return f"{found.calls}{repeats}" + (f" -> {found.left}" if found.left > needed else "")
