"""Does a healthy model lower to the same bytes every time, and is a difference told?"""

from __future__ import annotations

import pytest

from reducer.core.wire import Difference, DifferenceJob, Limits, Lowered, ModelJob, Refused
from reducer.oracle.worker import Worker

pytestmark = pytest.mark.torch

LIMITS = Limits(300)


def test_the_same_bytes_and_nothing_broken(warm_worker: Worker) -> None:
    one, other = (
        warm_worker.run(ModelJob("gated", backend), LIMITS).result
        for backend in ("portable", "portable")
    )
    assert isinstance(one, Lowered)
    assert isinstance(other, Lowered)
    assert one.failure is None
    assert one.pte == other.pte != b""
    assert one.explanation is not None
    assert [run.violations for run in one.explanation.runs if run.violations] == []
    retraces = [run.extraction for run in one.explanation.runs if run.extraction]
    assert {retrace.dispatcher for retrace in retraces} == {True}


def test_a_difference_is_told_in_words(warm_worker: Worker) -> None:
    one, other = (
        warm_worker.run(ModelJob(name, "portable"), LIMITS).result for name in ("gated", "split")
    )
    assert isinstance(one, Lowered)
    assert isinstance(other, Lowered)
    found = warm_worker.run(DifferenceJob(one.pte, other.pte), LIMITS).result
    assert isinstance(found, Difference)
    assert "Status: NOT bitwise equal" in found.lines


def test_an_unknown_model_is_refused(warm_worker: Worker) -> None:
    assert isinstance(warm_worker.run(ModelJob("no", "portable"), LIMITS).result, Refused)
