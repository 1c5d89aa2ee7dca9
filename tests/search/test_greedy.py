"""Are all independent simplifications taken, in few tests?"""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducer.search.greedy import take_all_or_halves

DRAWN = st.integers(0, 200).flatmap(
    lambda n: st.tuples(st.just(n), st.sets(st.integers(0, max(0, n - 1)), max_size=min(n, 6)))
)


class Taking:
    """Takes what holds none of ``refused``."""

    def __init__(self, refused: set[int]) -> None:
        self.refused, self.had, self.asked = refused, [], []  # type: ignore[var-annotated]

    def __call__(self, some: Sequence[int]) -> bool:
        self.asked.append(tuple(some))
        if self.refused & set(some):
            return False
        self.had.extend(some)
        return True


@given(DRAWN)
def test_exactly_the_refused_ones_are_left_and_all_others_taken_once(
    drawn: tuple[int, set[int]],
) -> None:
    count, refused = drawn
    taking = Taking(refused)
    assert take_all_or_halves(range(count), taking) == sorted(refused)
    assert sorted([*taking.had, *refused]) == list(range(count))


@given(DRAWN)
def test_one_test_if_all_go_else_two_logarithms_per_refused_one(
    drawn: tuple[int, set[int]],
) -> None:
    count, refused = drawn
    taking = Taking(refused)
    take_all_or_halves(range(count), taking)
    levels = math.ceil(math.log2(count)) if count > 1 else 0
    assert len(taking.asked) <= (1 + 2 * levels * len(refused) if count else 0)


@given(DRAWN)
def test_what_is_known_not_to_go_together_is_not_tested_again(
    drawn: tuple[int, set[int]],
) -> None:
    count, refused = drawn
    taking = Taking(refused)
    left = take_all_or_halves(range(count), taking, refused=bool(refused))
    assert left == sorted(refused)
    if len(refused) > 0 and count > 1:
        assert tuple(range(count)) not in taking.asked


@pytest.mark.parametrize(("count", "tests"), [(1, 1), (2, 3), (4, 5), (8, 11)])
def test_where_nothing_goes_few_are_tried_one_by_one(count: int, tests: int) -> None:
    taking = Taking(set(range(count)))
    assert take_all_or_halves(range(count), taking) == list(range(count))
    assert len(taking.asked) == tests


@given(DRAWN)
def test_no_set_is_tested_twice_and_none_is_empty(drawn: tuple[int, set[int]]) -> None:
    count, refused = drawn
    taking = Taking(refused)
    take_all_or_halves(range(count), taking)
    assert len(set(taking.asked)) == len(taking.asked)
    assert () not in taking.asked
