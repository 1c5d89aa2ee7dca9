"""Which is the first of a row that fails? By halves, since what fails once goes on to fail.

Some of a row may give no answer (they cannot be installed). Where the last one does not fail, or the row is
said not to be monotone, all are asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class First:
    """``place``: the first that fails, None if none does; ``before``: the last place before it that does
    not, -1 if there is none. What is between the two gave no answer. ``answers`` by place, as asked."""

    place: int | None
    before: int
    answers: dict[int, bool | None]


def first_failing(
    count: int, fails: Callable[[int], bool | None], *, monotone: bool = True
) -> First:
    """Ask as few of ``count`` as will do.

    >>> found = first_failing(9, lambda place: place >= 3)
    >>> found.place, found.before, len(found.answers)
    (3, 2, 4)
    >>> first_failing(4, lambda place: None if place == 1 else place >= 2).before
    0
    """
    answers: dict[int, bool | None] = {}

    def ask(place: int) -> bool | None:
        if place not in answers:
            answers[place] = fails(place)
        return answers[place]

    last = next((place for place in reversed(range(count)) if ask(place) is not None), None)
    if last is None:
        return First(None, -1, answers)
    if not monotone or not ask(last):
        return _one_after_the_other(count, ask, answers)
    low, high = -1, last
    while (middle := _between(low, high, ask)) is not None:
        if ask(middle):
            high = middle
        else:
            low = middle
    return First(high, low, answers)


def _between(low: int, high: int, ask: Callable[[int], bool | None]) -> int | None:
    """The place nearest to the middle that gives an answer; None if there is none between."""
    middle = (low + high) / 2
    places = sorted(range(low + 1, high), key=lambda place: abs(place - middle))
    return next((place for place in places if ask(place) is not None), None)


def _one_after_the_other(
    count: int, ask: Callable[[int], bool | None], answers: dict[int, bool | None]
) -> First:
    before = -1
    first: int | None = None
    for place in range(count):
        answer = ask(place)
        if answer and first is None:
            first = place
        elif answer is False and first is None:
            before = place
    return First(first, before, answers)
