"""Who answers every tool alike, and what was asked?

All tools ask one :class:`Oracle`: the product's judge with a warm worker. It keeps a log of the calls,
from which all columns of the table are read: no tool counts for itself.
"""

from __future__ import annotations

import hashlib
import itertools
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from reducer.core.case import Case
from reducer.core.stage import Stage
from reducer.core.verdict import Verdict
from reducer.core.wire import Capture, CaptureJob, Death, Result
from reducer.graph.canonical import case_digest
from reducer.oracle.judge import Judge, Judgement


class Forgetful:
    """A store that knows nothing: a tool that asks twice pays twice."""

    def get(self, key: str) -> None:
        """Nothing is known."""

    def put(self, key: str, result: Result, seconds: float) -> None:
        """Nothing is kept."""


@dataclass(frozen=True)
class Call:
    """One question that reached the worker: ``at`` seconds after the start its answer was there."""

    at: float
    key: str
    verdict: Verdict
    operators: int


@dataclass(frozen=True)
class Step:
    """A case smaller than all before it: when, after how many paid calls, how many operators."""

    at: float
    calls: int
    operators: int


class Oracle:
    """Answers, and logs. Raises BudgetSpent like the judge."""

    def __init__(self, judge: Judge, scripts: Path) -> None:
        self.judge = judge
        self.log: list[Call] = []
        self.best: Case | None = None
        self._scripts = scripts
        self._numbers = itertools.count()
        self._began = time.monotonic()

    def __call__(self, case: Case, then: Iterable[tuple[Case, int]] = ()) -> Judgement:
        """The verdict on a case; what the judge's store knows is no call. ``then`` as the judge takes it."""
        judgement = self.judge(case, then=then)
        if not judgement.stored:
            self._note(case_digest(case), judgement.verdict, case)
        return judgement

    def same(self, case: Case | None) -> bool:
        """Whether it fails as wanted."""
        return case is not None and self(case).verdict is Verdict.SAME

    def script(self, text: str) -> bool:
        """Whether a script fails as wanted: it is run in a child of the warm worker."""
        budget = self.judge.budget
        budget.check()
        folder = self._scripts / str(next(self._numbers))
        folder.mkdir(parents=True)
        path = folder / "script.py"
        path.write_text(text, encoding="utf-8")
        result = self.judge.worker.run(CaptureJob(str(path), str(folder)), self.judge.limits).result
        verdict = self._verdict(result)
        if verdict.paid:
            budget.pay()
        case = result.case if isinstance(result, Capture) else None
        self._note(hashlib.sha256(text.encode()).hexdigest(), verdict, case)
        return verdict is Verdict.SAME

    @property
    def elapsed(self) -> float:
        """Seconds since the tool began."""
        return time.monotonic() - self._began

    @property
    def paid(self) -> list[Call]:
        """The calls that lowered something."""
        return [call for call in self.log if call.verdict.paid]

    @property
    def steps(self) -> list[Step]:
        """How the size went down."""
        found: list[Step] = []
        for number, call in enumerate(self.paid, 1):
            smaller = not found or call.operators < found[-1].operators
            if call.verdict is Verdict.SAME and smaller:
                found.append(Step(call.at, number, call.operators))
        return found

    def _verdict(self, result: Result) -> Verdict:
        """What became of a script. What fails before it is lowered is no valid candidate."""
        if isinstance(result, Death):
            return Verdict.TIMEOUT if result.kind == "timeout" else Verdict.CRASH
        if not isinstance(result, Capture):
            return Verdict.INVALID
        failure = result.attempt.failure
        if failure is None:
            return Verdict.PASSES
        if failure.stage.rank <= Stage.EXPORT.rank:
            return Verdict.INVALID
        return Verdict.SAME if self.judge.rule.same(self.judge.wanted, failure) else Verdict.OTHER

    def _note(self, key: str, verdict: Verdict, case: Case | None) -> None:
        operators = case.operators if case is not None else 0
        self.log.append(Call(self.elapsed, key, verdict, operators))
        smaller = self.best is None or operators < self.best.operators
        if verdict is Verdict.SAME and case is not None and smaller:
            self.best = case
