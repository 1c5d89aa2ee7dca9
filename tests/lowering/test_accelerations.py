"""Can accelerations be left out one by one? That each gives the same verdicts is seen in what uses the worker."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.torch


def test_those_named_stay_off() -> None:
    from reducer.lowering.accelerations import ACCELERATIONS, switch_on

    names = [module.NAME for module in ACCELERATIONS]
    assert switch_on(without=names) == tuple((name, "left out") for name in names)
