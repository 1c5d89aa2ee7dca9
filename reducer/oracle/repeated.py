"""Does a case fail that fails only now and then? Asked several times, and counted.

A case is as good as the start if it fails in a majority of the runs in which the start would be
expected to: of ten runs of a start that fails in three of ten, two.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from reducer.core.case import Case
from reducer.core.verdict import Verdict
from reducer.oracle.judge import Judge, Judgement

#: How often the start is run to learn its rate, and a candidate at most.
TIMES = 10
_MOST = 20
#: Where the numbers of the runs begin by which a result is checked again: further than candidates go.
AGAIN = 1000
#: With so many runs a case that fails as often as the start fails at least once, but for this chance.
_MISSED = 0.05


@dataclass(frozen=True)
class Rate:
    """How often a case failed as wanted, of how many runs."""

    failed: int
    runs: int

    @property
    def steady(self) -> bool:
        """Whether it always did."""
        return self.failed == self.runs

    def __str__(self) -> str:
        return f"{self.failed} of {self.runs} runs"


def rate(judge: Judge, case: Case, times: int = TIMES, first: int = 1) -> Rate:
    """Run a case so many times, each run a paid call of its own, numbered from ``first`` on."""
    runs = range(first, first + times)
    verdicts = [judge(case, nth, _later(case, runs, nth)).verdict for nth in runs]
    return Rate(verdicts.count(Verdict.SAME), times)


def _later(case: Case, runs: range, nth: int) -> Iterator[tuple[Case, int]]:
    return ((case, later) for later in runs if later > nth)


class Repeated:
    """A judge that runs each case several times."""

    def __init__(self, judge: Judge, start: Rate) -> None:
        self.judge = judge
        share = start.failed / start.runs
        missed = math.log(_MISSED) / math.log(1 - share) if share < 1 else 1
        self.runs = min(_MOST, max(3, math.ceil(missed)))
        self.needed = math.floor(self.runs * share / 2) + 1

    def __call__(self, case: Case, then: Iterable[tuple[Case, int]] = ()) -> Judgement:
        """The verdict of the majority; as few runs as decide it. What comes next are more runs."""
        failed = calls = 0
        runs = range(1, self.runs + 1)
        for nth in runs:
            judgement = self.judge(case, nth, _later(case, runs, nth))
            calls += judgement.calls
            failed += judgement.verdict is Verdict.SAME
            if failed == self.needed or judgement.verdict is Verdict.INVALID:
                return replace(judgement, calls=calls)
            if failed + self.runs - nth < self.needed:
                break
        if judgement.verdict is not Verdict.SAME and not failed:
            return replace(judgement, calls=calls)
        told = f"fails in {failed} of {nth} runs"
        return Judgement(Verdict.FLAKY, None, told, judgement.seconds, judgement.stored, calls)
