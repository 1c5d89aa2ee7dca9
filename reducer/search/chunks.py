"""How are items removed when a predicate is not monotone? In chunks that shrink round by round.

Sizes follow counter-based delta debugging (CDD, arXiv 2408.04735): ``round(-1 / ln(1 - p))`` with
``p`` growing by ``1 / (1 - 1/e)`` per round from 0.1; no complements are tested and no chunk twice in
a round. The last round removes items one by one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def chunk_sizes(count: int, probability: float = 0.1) -> Iterator[int]:
    """Chunk sizes from large to 1, for ``count`` items.

    >>> list(chunk_sizes(100))
    [9, 6, 3, 2, 1]
    """
    previous = 0
    while True:
        size = 1 if probability >= 1 else max(1, round(-1 / math.log(1 - probability)))
        size = min(size, max(1, count))
        if size != previous:
            yield size
        if size == 1:
            return
        previous = size
        probability /= 1 - math.exp(-1)


def remove_chunks(items: Sequence[T], removed: Callable[[Sequence[T]], bool]) -> list[T]:
    """What is left of ``items`` when ``removed(chunk)`` removed what it could. It answers True if so.

    >>> gone = set()
    >>> def removed(chunk):
    ...     if {3, 4} & set(chunk): return False
    ...     gone.update(chunk); return True
    >>> remove_chunks(range(20), removed)
    [3, 4]
    """
    left = list(items)
    for size in chunk_sizes(len(left)):
        position = len(left)
        while position > 0:  # from the end: later calls are the ones that fewer others need
            start = max(0, position - size)
            if removed(left[start:position]):
                del left[start:position]
            position = start
    return left
