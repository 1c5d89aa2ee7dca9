"""How many calls does a search need that knows nothing? What to compare its calls with."""

from __future__ import annotations

import math


def calls_bound(start: int, left: int) -> int:
    """``1 + ceil(log2 C(p, m)) + m`` for ``p = start`` elements of which ``m = left`` remain. 0 if none can.

    One call sees that the start fails. Each answer halves, at best, the C(p, m) sets that may be the one
    that remains (the information bound of group testing: Hwang, "A method for detecting all defective
    members in a population by group testing", JASA 67, 1972). One call per remaining element shows that
    it cannot go, which makes the result 1-minimal.

    >>> [calls_bound(128, 1), calls_bound(128, 8), calls_bound(2, 2), calls_bound(1, 2)]
    [9, 50, 3, 0]
    """
    sets = math.comb(start, left)
    return 1 + math.ceil(math.log2(sets)) + left if sets else 0
