"""Is the bound what a search without any knowledge needs?"""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducer.search.bisect_last import bisect_last
from reducer.search.bound import calls_bound


@given(st.integers(1, 500), st.integers(0, 10))
def test_it_pays_for_the_start_the_sets_and_the_certificate(start: int, left: int) -> None:
    if left > start:
        assert calls_bound(start, left) == 0
    else:
        sets = calls_bound(start, left) - 1 - left
        assert 2**sets >= math.comb(start, left) > (2 ** (sets - 1) if sets else 0)


@pytest.mark.parametrize("needed", [{64}, {64, 65}, {20, 64, 110}, set(range(5, 128, 16))])
def test_bisection_is_close_to_it(needed: set[int]) -> None:
    asked = 1  # that the start fails

    def fails(kept: object) -> bool:
        nonlocal asked
        asked += 1
        return needed <= set(kept)  # type: ignore[call-overload]

    assert bisect_last(range(128), fails) == sorted(needed)
    bound = calls_bound(128, len(needed))
    assert asked <= 1.3 * bound, (asked, bound)
