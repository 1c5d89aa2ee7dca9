"""Which of many independent simplifications go together? All at once, then halves, of few each alone.

One test if all go; about ``2 * m * log2(n)`` if ``m`` of ``n`` do not. No complement is tested and no
set twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")

#: Of so few that do not go together each is tried alone: with two that do not go, halves take more tests.
_FEW = 4


def take_all_or_halves(
    items: Sequence[T], taken: Callable[[Sequence[T]], bool], *, refused: bool = False
) -> list[T]:
    """The items that could not be taken. ``taken(some)`` takes them all on top of earlier ones, or none.

    ``refused``: all of them together are known not to go.

    >>> had = []
    >>> def taken(some):
    ...     if 5 in some: return False
    ...     had.extend(some); return True
    >>> take_all_or_halves(range(8), taken), had
    ([5], [0, 1, 2, 3, 4, 6, 7])
    """
    if not items or (not (refused and len(items) > 1) and taken(items)):
        return []
    if len(items) == 1:
        return list(items)
    size = 1 if len(items) <= _FEW else (len(items) + 1) // 2
    parts = [items[start : start + size] for start in range(0, len(items), size)]
    return [item for part in parts for item in take_all_or_halves(part, taken)]
