"""Are all independent simplifications taken, in few tests?"""

from __future__ import annotations

import math
from collections.abc import Sequence

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
def test_no_set_is_tested_twice_and_none_is_empty(drawn: tuple[int, set[int]]) -> None:
    count, refused = drawn
    taking = Taking(refused)
    take_all_or_halves(range(count), taking)
    assert len(set(taking.asked)) == len(taking.asked)
    assert () not in taking.asked
