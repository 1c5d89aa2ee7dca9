"""Does a case fail the same way? Asks the store, then the worker; counts what was paid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from reducer.core.case import Case
from reducer.core.errors import WorkerDied
from reducer.core.signature import MatchRule, Signature
from reducer.core.verdict import Verdict
from reducer.core.wire import (
    Attempt,
    Broken,
    Death,
    Environment,
    JudgeJob,
    Limits,
    Refused,
    Result,
)
from reducer.graph.canonical import case_digest
from reducer.oracle.ahead import Ahead, Question
from reducer.oracle.store import Store, store_key
from reducer.oracle.worker import Worker
from reducer.search.budget import Budget


@dataclass(frozen=True)
class Judgement:
    """A verdict with what it rests on. ``stored``: no call was paid now. ``seconds``: of the worker.

    ``calls``: paid calls, be it by an earlier run; 0 if it was asked before in this one.
    """

    verdict: Verdict
    attempt: Attempt | None
    detail: str
    seconds: float
    stored: bool
    calls: int = 0


#: The gate of what the worker refused without saying where, and of what was asked before.
OTHER_GATE, SEEN = "other", "seen"
#: Of the gates in the worker, the one behind which what fails has begun to run.
AFTER_START = "run"


@dataclass
class Counts:
    """What judging cost so far.

    ``paid`` calls are those of this run, ``resumed`` those that an earlier run paid and this one
    used; ``repeated`` is how many of ``paid`` asked what had been asked before. ``cases`` are the
    digests of what was paid for. ``seconds`` are the worker's, in earlier runs as well, in all and by
    stage. ``gates`` counts what cost no call, by what refused it.
    """

    paid: int = 0
    resumed: int = 0
    repeated: int = 0
    stored: int = 0
    abandoned: int = 0
    seconds: float = 0.0
    verdicts: Counter[Verdict] = field(default_factory=Counter)
    stages: Counter[str] = field(default_factory=Counter)
    gates: Counter[str] = field(default_factory=Counter)
    cases: set[str] = field(default_factory=set)

    @property
    def refused(self) -> int:
        """Candidates that the worker refused."""
        return sum(self.gates.values()) - self.gates[SEEN]


def judge_question(
    job: JudgeJob, limits: Limits, environment: Environment, content: str, nth: int = 0
) -> Question:
    """What a verdict is asked with, under the key by which it is stored; ``content`` is the case's digest."""
    kind = f"judge {job.oracle} {nth or ''}".strip()
    return Question(store_key(kind, content, environment), job, limits)


class Judge:
    """The oracle: one wanted signature, one matching rule, one worker, one store."""

    def __init__(
        self,
        worker: Worker,
        store: Store,
        budget: Budget,
        *,
        data_dir: Path,
        wanted: Signature,
        rule: MatchRule,
        limits: Limits,
        invariant: str = "",
        spare: int = 0,
    ) -> None:
        self.worker = worker
        self.store = store
        self.budget = budget
        self.data_dir = data_dir
        self.wanted = wanted
        self.rule = rule
        self.limits = limits
        self.invariant = invariant
        self.counts = Counts()
        self._ahead = Ahead(worker, spare)
        self._asked: set[str] = set()

    def __call__(
        self, case: Case, nth: int = 0, then: Iterable[tuple[Case, int]] = ()
    ) -> Judgement:
        """Judge a case. Raises BudgetSpent before a call that may not be paid any more.

        ``nth`` numbers further runs of the same case, which are calls of their own. ``then`` are the
        cases and numbers that are asked next, unless this verdict changes that.
        """
        content = case_digest(case)
        asked = self._question(case, nth, content)
        found = self._known(asked.key)
        result, seconds = found or self._ask(asked, then)
        judgement = replace(self._read(result), seconds=seconds, stored=found is not None)
        return self._counted(judgement, asked.key, content)

    def forget(self) -> None:
        """End what was begun and is not asked any more."""
        self._ahead.forget()
        self.counts.abandoned = self._ahead.abandoned

    def _question(self, case: Case, nth: int, content: str) -> Question:
        job = JudgeJob(case, str(self.data_dir), self.invariant)
        return judge_question(job, self.limits, self.worker.environment, content, nth)

    def _known(self, key: str) -> tuple[Result, float] | None:
        found = self.store.get(key)
        return None if found is None or self._too_short(found[0]) else found

    def _ask(self, asked: Question, then: Iterable[tuple[Case, int]]) -> tuple[Result, float]:
        """What the worker says, stored at once; and its seconds."""
        self.budget.check()
        next_ones = (
            self._question(other, nth, case_digest(other))
            for other, nth in then
            if self.budget.allows(2)
        )
        unknown = (other for other in next_ones if self._known(other.key) is None)
        answer = self._ahead.answer(asked, unknown)
        self.counts.abandoned = self._ahead.abandoned
        if isinstance(answer.result, Broken):
            raise WorkerDied(
                "the worker failed on a candidate; this is a bug in reducer",
                hint=answer.result.traceback.strip().splitlines()[-1],
            )
        self.store.put(asked.key, answer.result, answer.seconds)
        return answer.result, answer.seconds

    def _counted(self, judgement: Judgement, key: str, content: str) -> Judgement:
        """Count it, and say what it cost."""
        counts, verdict, stored = self.counts, judgement.verdict, judgement.stored
        seen = key in self._asked
        self._asked.add(key)
        counts.verdicts[verdict] += 1
        counts.stored += stored
        if seen and stored:
            counts.gates[SEEN] += 1
            return judgement
        counts.seconds += judgement.seconds
        if judgement.attempt is not None:
            for stage, seconds in judgement.attempt.seconds:
                counts.stages[stage] += seconds  # type: ignore[assignment]
        if not verdict.paid:
            gate = judgement.attempt.gate if judgement.attempt is not None else AFTER_START
            counts.gates[gate or OTHER_GATE] += 1
            return judgement
        counts.cases.add(content)
        if stored:
            counts.resumed += 1
        else:
            self.budget.pay()
            counts.paid += 1
            counts.repeated += seen
        return replace(judgement, calls=1)

    def _read(self, result: Result) -> Judgement:
        """The verdict that a result means under the matching rule."""
        if isinstance(result, Attempt):
            if result.invalid:
                return Judgement(Verdict.INVALID, result, result.invalid, 0.0, False)
            if result.failure is None:
                return Judgement(Verdict.PASSES, result, "passes", 0.0, False)
            same = self.rule.same(self.wanted, result.failure)
            verdict = Verdict.SAME if same else Verdict.OTHER
            return Judgement(verdict, result, result.failure.headline, 0.0, False)
        if isinstance(result, Death):
            verdict = Verdict.TIMEOUT if result.kind == "timeout" else Verdict.CRASH
            if result.failure is not None and self.rule.same(self.wanted, result.failure):
                verdict = Verdict.SAME
            attempt = None if result.failure is None else Attempt(result.failure)
            told = f"{result.kind} {result.detail}".strip()
            return Judgement(verdict, attempt, told, 0.0, False)
        if isinstance(result, Refused):
            return Judgement(Verdict.INVALID, None, result.message, 0.0, False)
        raise TypeError(f"a judge job cannot answer {type(result).__name__}")

    def _too_short(self, result: Result) -> bool:
        """Whether a stored timeout says nothing about the time that is allowed now."""
        if not isinstance(result, Death) or result.kind != "timeout":
            return False
        return float(result.detail.split()[0]) < self.limits.seconds
