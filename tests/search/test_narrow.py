"""Do halves find what lies together, at the cost of about twice the first test?"""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from reducer.search.narrow import narrow

ENOUGH = 32
WINDOWS = st.integers(1, 3000).flatmap(
    lambda n: st.tuples(st.just(n), st.integers(0, n - 1), st.integers(1, 8))
)


class Counting:
    """Fails if all needed items are there; remembers how many it was asked about each time."""

    def __init__(self, needed: set[int]) -> None:
        self.needed, self.asked = needed, []  # type: ignore[var-annotated]

    def __call__(self, kept: Sequence[int]) -> bool:
        self.asked.append(len(kept))
        return self.needed <= set(kept)


@given(WINDOWS)
def test_what_is_left_fails_and_is_a_window(drawn: tuple[int, int, int]) -> None:
    count, first, width = drawn
    needed = set(range(first, min(count, first + width)))
    left = narrow(range(count), Counting(needed), ENOUGH)
    assert needed <= set(left)
    assert list(left) == list(range(left[0], left[-1] + 1))


@given(WINDOWS)
def test_one_item_is_found_in_tests_that_shrink(drawn: tuple[int, int, int]) -> None:
    count, place, _ = drawn
    fails = Counting({place})
    assert len(narrow(range(count), fails, ENOUGH)) <= max(ENOUGH, 1)
    assert sum(fails.asked) <= 2 * count + 2
    assert fails.asked == sorted(fails.asked, reverse=True)


@given(st.integers(65, 3000))
def test_what_lies_far_apart_costs_three_tests(count: int) -> None:
    fails = Counting({0, count - 1})
    assert narrow(range(count), fails, ENOUGH) == range(count)
    assert len(fails.asked) == 3


def test_of_few_nothing_is_asked() -> None:
    fails = Counting({1})
    assert narrow(range(ENOUGH), fails, ENOUGH) == range(ENOUGH)
    assert fails.asked == []
