"""Which numbers are wrong, in which way, and by how many tolerances?"""

from __future__ import annotations

import math

import pytest

pytestmark = pytest.mark.torch

torch = pytest.importorskip("torch")

from reducer.core.signature import (  # noqa: E402
    CLEAR_EXCESS,
    MatchRule,
    normalise_message,
    signature_of,
)
from reducer.core.stage import Stage  # noqa: E402
from reducer.lowering.failure import failure_from_exception  # noqa: E402
from reducer.lowering.numbers import Tolerance, WrongNumbers, compare  # noqa: E402

NAN, INF = math.nan, math.inf

#: (expected, found, the way that it is wrong)
WRONG = [
    ([1.0, 2.0], [1.0, 2.1], "has other numbers"),
    ([1.0, 2.0], [-1.0, -2.0], "has other numbers, with the opposite sign"),
    ([1.0, 2.0], [0.0, 0.0], "has other numbers, all zeros"),
    ([1.0, 2.0], [5e3, 1.0], "has other numbers, far too large"),
    ([1.0, 2e3], [1.0, 1.5], "has other numbers, far too small"),
    ([1.0, 2.0], [NAN, 2.0], "has nan where"),
    ([1.0, 2.0], [INF, 2.0], "has infinity where"),
    ([1.0, INF], [1.0, 2.0], "has numbers where nan or infinity"),
    ([1.0, 2.0], [[1.0, 2.0]], "has another shape"),
    ([1.0, 2.0], [1, 2], "has another dtype"),
]


def wrong(expected: object, found: object, tolerance: Tolerance | None = None) -> WrongNumbers:
    with pytest.raises(WrongNumbers) as caught:
        compare([torch.tensor(expected)], [torch.tensor(found)], tolerance or Tolerance())
    return caught.value


@pytest.mark.parametrize(("expected", "found", "way"), WRONG, ids=[row[2] for row in WRONG])
def test_the_way_is_told_and_no_number_of_it_counts(
    expected: object, found: object, way: str
) -> None:
    error = wrong(expected, found)
    assert f"an output {way}" in str(error)
    assert error.excess > 1
    shown = normalise_message(str(error)).replace("float32", "").replace("int64", "")
    assert not set("0123456789") & set(shown)


def test_a_special_way_is_wrong_in_the_general_way_too_but_not_the_reverse() -> None:
    general, special = (
        failure_from_exception(wrong([1.0, 2.0], found), Stage.COMPARE)
        for found in ([1.0, 3.0], [-1.0, -2.0])
    )
    rule = MatchRule()
    assert rule.same(signature_of(general), special)
    assert not rule.same(signature_of(special), general)
    assert "off by 1 where" in general.headline


def test_what_was_far_off_stays_far_off() -> None:
    far, near = (
        failure_from_exception(wrong([1.0], [found]), Stage.COMPARE) for found in (2.0, 1.01)
    )
    rule = MatchRule()
    assert far.excess > CLEAR_EXCESS > near.excess
    assert not rule.same(signature_of(far), near)
    assert rule.same(signature_of(near), far)


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        ([1.0, 2.0], [1.0, 2.0019]),  # 1e-3 of the largest and 1e-4
        ([NAN, INF, 1.0], [NAN, INF, 1.0]),
        ([], []),
        ([NAN], [NAN]),
        ([7, 8], [7, 8]),
        ([True], [True]),
        ([1e-5], [2e-5]),
    ],
)
def test_rounding_is_not_wrong(expected: object, found: object) -> None:
    compare([torch.tensor(expected)], [torch.tensor(found)], Tolerance())


def test_whole_numbers_are_exact_and_those_of_eight_bits_within_one() -> None:
    assert wrong([7], [8]).excess == INF
    eight = [torch.tensor([7], dtype=torch.int8)], [torch.tensor([8], dtype=torch.int8)]
    compare(*eight, Tolerance())


def test_excess_is_in_tolerances() -> None:
    error = wrong([1.0], [1.11])
    assert error.allowed == pytest.approx(1.1e-3)
    assert error.excess == pytest.approx(100, rel=1e-3)


def test_given_tolerances_count_and_quantised_programs_get_more() -> None:
    compare([torch.tensor([1.0])], [torch.tensor([1.02])], Tolerance(quantised=True))
    compare([torch.tensor([1.0])], [torch.tensor([1.4])], Tolerance(rtol=0.5))
    error = wrong([1.0], [1.0005], Tolerance(rtol=0.0, atol=1e-6))
    assert error.allowed == 1e-6


def test_the_output_that_is_furthest_off_is_told() -> None:
    expected = [torch.tensor([1.0]), torch.tensor([1.0]), torch.tensor(2)]
    found = [torch.tensor([1.01]), torch.tensor([-1.0]), torch.tensor(2)]
    with pytest.raises(WrongNumbers, match="opposite sign"):
        compare(expected, found, Tolerance())


def test_complex_numbers_are_compared_by_both_parts() -> None:
    assert "other numbers" in str(wrong([1 + 2j], [1 + 3j]))
