"""Which of many independent simplifications go together? All at once, then halves.

One test if all go; about ``2 * m * log2(n)`` if ``m`` of ``n`` do not. No complement is tested and no
set twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def take_all_or_halves(items: Sequence[T], taken: Callable[[Sequence[T]], bool]) -> list[T]:
    """The items that could not be taken. ``taken(some)`` takes them all on top of earlier ones, or none.

    >>> had = []
    >>> def taken(some):
    ...     if 5 in some: return False
    ...     had.extend(some); return True
    >>> take_all_or_halves(range(8), taken), had
    ([5], [0, 1, 2, 3, 4, 6, 7])
    """
    if not items or taken(items):
        return []
    if len(items) == 1:
        return list(items)
    middle = len(items) // 2
    return [*take_all_or_halves(items[:middle], taken), *take_all_or_halves(items[middle:], taken)]
