"""Does bisection for the last needed item find exactly what is needed, in few tests?"""

from __future__ import annotations

import math
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from reducer.search.bisect_last import bisect_last

NEEDED = st.integers(1, 300).flatmap(
    lambda n: st.tuples(st.just(n), st.sets(st.integers(0, n - 1), max_size=8))
)


class Counting:
    """A predicate that remembers what it was asked."""

    def __init__(self, holds: object) -> None:
        self.holds, self.asked = holds, []  # type: ignore[var-annotated]

    def __call__(self, kept: Sequence[int]) -> bool:
        self.asked.append(tuple(kept))
        return bool(self.holds(set(kept)))  # type: ignore[operator]


@given(NEEDED)
def test_it_finds_exactly_the_needed_items_in_order(drawn: tuple[int, set[int]]) -> None:
    count, needed = drawn
    assert bisect_last(range(count), Counting(needed.issubset)) == sorted(needed)


@given(NEEDED)
def test_it_asks_about_a_logarithm_per_needed_item(drawn: tuple[int, set[int]]) -> None:
    count, needed = drawn
    fails = Counting(needed.issubset)
    bisect_last(range(count), fails)
    # Per needed item a bisection, a test of the one next to it, and a test whether all is found.
    assert len(fails.asked) <= 1 + len(needed) * (2 + math.ceil(math.log2(count)))


@given(st.integers(2, 300), st.integers(1, 8))
def test_neighbours_take_two_tests_each(count: int, width: int) -> None:
    width = min(width, count)
    first = (count - width) // 2
    fails = Counting(set(range(first, first + width)).issubset)
    assert bisect_last(range(count), fails) == list(range(first, first + width))
    assert len(fails.asked) <= 1 + math.ceil(math.log2(count)) + 2 * width


@given(NEEDED)
def test_it_never_asks_about_one_set_twice_nor_about_all(drawn: tuple[int, set[int]]) -> None:
    count, needed = drawn
    fails = Counting(needed.issubset)
    bisect_last(range(count), fails)
    assert len(set(fails.asked)) == len(fails.asked)
    assert tuple(range(count)) not in fails.asked


@given(NEEDED, st.randoms(use_true_random=False))
def test_what_it_returns_fails_whatever_the_predicate(
    drawn: tuple[int, set[int]], random: object
) -> None:
    count, _ = drawn
    known = {tuple(range(count)): True}

    def fails(kept: Sequence[int]) -> bool:
        return known.setdefault(tuple(kept), random.random() < 0.5)  # type: ignore[attr-defined]

    assert known[tuple(bisect_last(range(count), fails))]


def test_it_asks_nothing_about_nothing() -> None:
    fails = Counting(lambda kept: True)
    assert bisect_last([], fails) == []
    assert fails.asked == []


@given(NEEDED)
def test_what_is_asked_was_foreseen(drawn: tuple[int, set[int]]) -> None:
    count, needed = drawn
    fails, told = Counting(needed.issubset), list[set[tuple[int, ...]]]()
    bisect_last(range(count), fails, lambda sets: told.append(set(map(tuple, sets))))
    assert len(told) == len(fails.asked)
    assert all(next_one in sets for sets, next_one in zip(told, fails.asked[1:], strict=False))
