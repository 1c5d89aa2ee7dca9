"""Is a case that fails now and then judged by how often, and in no more runs than needed?"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reducer.core.case import Case, Graph
from reducer.core.recipe import Recipe
from reducer.core.verdict import Verdict
from reducer.oracle.judge import Judgement
from reducer.oracle.repeated import Rate, Repeated, rate

CASE = Case(Graph((), (), ()), Recipe())


class Scripted:
    """A judge whose verdicts are listed: F fails as wanted, . passes, x is invalid."""

    def __init__(self, verdicts: str) -> None:
        self.verdicts: Iterator[str] = iter(verdicts)
        self.numbers: list[int] = []

    def __call__(self, case: Case, nth: int = 0, then: object = ()) -> Judgement:
        self.numbers.append(nth)
        kinds = {"F": Verdict.SAME, ".": Verdict.PASSES, "x": Verdict.INVALID}
        verdict = kinds[next(self.verdicts)]
        return Judgement(verdict, None, "", 1.0, False, int(verdict.paid))


def test_the_rate_is_counted_over_calls_of_their_own() -> None:
    judge = Scripted("F..F......")
    found = rate(judge, CASE)  # type: ignore[arg-type]
    assert (found, str(found)) == (Rate(2, 10), "2 of 10 runs")
    assert not found.steady
    assert judge.numbers == list(range(1, 11))


#: (start, runs per candidate, failures needed)
STARTS = [(Rate(10, 10), 3, 2), (Rate(9, 10), 3, 2), (Rate(5, 10), 5, 2), (Rate(3, 10), 9, 2),
          (Rate(1, 10), 20, 2)]  # fmt: skip


@pytest.mark.parametrize(("start", "runs", "needed"), STARTS)
def test_a_win_needs_a_majority_of_what_the_start_would_give(
    start: Rate, runs: int, needed: int
) -> None:
    repeated = Repeated(Scripted(""), start)  # type: ignore[arg-type]
    assert (repeated.runs, repeated.needed) == (runs, needed)


#: (verdicts of the runs, verdict, runs)
VERDICTS = [("F.F", Verdict.SAME, 3), ("FF", Verdict.SAME, 2), ("........", Verdict.PASSES, 8),
            ("F........", Verdict.FLAKY, 9), ("x", Verdict.INVALID, 1)]  # fmt: skip


@pytest.mark.parametrize(("verdicts", "verdict", "runs"), VERDICTS)
def test_as_few_runs_as_decide_it(verdicts: str, verdict: Verdict, runs: int) -> None:
    judge = Scripted(verdicts)
    found = Repeated(judge, Rate(3, 10))(CASE)  # type: ignore[arg-type]
    assert (found.verdict, found.calls) == (verdict, runs - (verdicts == "x"))
    assert len(judge.numbers) == runs
