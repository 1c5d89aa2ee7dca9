"""What is the smallest case so far, and may a candidate take its place?

The one place where candidates are judged, accepted and counted. Strategies above it only choose what
to try; deltas below it only say how a candidate looks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeGuard

from reducer.core.case import Case
from reducer.core.delta import Delta, Edit
from reducer.core.events import Event, Judged
from reducer.core.finding import Evidence
from reducer.core.order import is_simpler
from reducer.core.signature import Signature, signature_of
from reducer.core.stage import Stage
from reducer.core.verdict import Verdict
from reducer.core.wire import Attempt
from reducer.graph.each_node import with_specs
from reducer.oracle.judge import Judgement


class Oracle(Protocol):
    """What answers about a case."""

    def __call__(self, case: Case, *, then: Iterable[tuple[Case, int]] = ()) -> Judgement:
        """The verdict on the case. ``then``: what is asked next unless this verdict changes that."""


@dataclass(frozen=True)
class Slipped:
    """Another failure met on the way: the smallest case that showed it."""

    case: Case
    attempt: Attempt


#: Gates in front of the oracle: see :class:`~reducer.core.finding.Ledger`.
NO_PROGRAM, NOT_SIMPLER = "no program", "not simpler"
#: A source is refused if it takes at least this many seconds, and so many times those of the best.
_SLOW, _SLOWER = 5.0, 4.0


def _seconds(attempt: Attempt) -> float:
    return sum(spent for _, spent in attempt.seconds)


class Reduction:
    """The smallest case that fails as wanted, and all that was learned on the way to it.

    ``calls`` are paid ones by delta, ``steps`` and ``gates`` as in the ledger; ``elements`` counts those of
    the first case that failed as wanted.
    """

    def __init__(
        self,
        oracle: Oracle,
        *,
        report: Callable[[Event], None] = lambda _: None,
        improved: Callable[[Case], None] = lambda _: None,
    ) -> None:
        self._oracle = oracle
        self._report = report
        self._improved = improved
        self._best: Case | None = None
        self.attempt: Attempt | None = None
        self.slips: dict[Signature, Slipped] = {}
        self.tried: Counter[str] = Counter()
        self.useful: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self.useful_calls: Counter[str] = Counter()
        self.gates: Counter[str] = Counter()
        self.steps: list[tuple[int, int]] = []
        self.elements = 0
        self.paid = 0
        self.left: int | None = None

    @property
    def found(self) -> bool:
        """Whether any case failed as wanted yet."""
        return self._best is not None

    @property
    def best(self) -> Case:
        """The smallest case that failed as wanted."""
        assert self._best is not None, "nothing failed as wanted yet"
        return self._best

    def offer(self, candidate: Case | None, delta: str, then: Iterable[Case | None] = ()) -> bool:
        """Judge a candidate and keep it if it is simpler and fails as wanted.

        ``then`` are the candidates that are offered next if it is not kept.
        """
        if not self._may_be_tried(candidate):
            return False
        likely = (other for other in then if other is not None and self._is_simpler(other))
        judgement = self.judge(candidate, delta, likely)
        if judgement.verdict is not Verdict.SAME or self._is_slow(judgement):
            return False
        specs = judgement.attempt.specs if judgement.attempt else ()
        self._best, self.attempt = with_specs(candidate, dict(specs)), judgement.attempt
        self.useful[delta] += 1
        self.useful_calls[delta] += judgement.calls
        if not self.steps or candidate.operators < self.steps[-1][1]:
            self.steps.append((self.calls.total(), candidate.operators))
        self._improved(candidate)
        return True

    def _may_be_tried(self, candidate: Case | None) -> TypeGuard[Case]:
        """Whether no gate in front of the oracle refuses it."""
        if candidate is None:
            self.gates[NO_PROGRAM] += 1
            return False
        if not self._is_simpler(candidate):
            self.gates[NOT_SIMPLER] += 1
            return False
        return True

    def _is_simpler(self, candidate: Case) -> bool:
        return self._best is None or is_simpler(candidate, self._best)

    def _is_slow(self, judgement: Judgement) -> bool:
        """Whether less source makes much more work: an argument left out may mean a model of full size."""
        if self._best is None or not self._best.source or not (judgement.attempt and self.attempt):
            return False
        now, before = (_seconds(item) for item in (judgement.attempt, self.attempt))
        return now > max(_SLOW, _SLOWER * before)

    def offer_edits(
        self, delta: Delta, edits: Sequence[Edit], then: Iterable[Case | None] = ()
    ) -> bool:
        """Judge the best case with these edits made."""
        return self.offer(delta.apply(self.best, edits), delta.NAME, then)

    def judge(self, candidate: Case, delta: str, then: Iterable[Case] = ()) -> Judgement:
        """The verdict on a candidate; remembers other failures, reports."""
        judgement = self._oracle(candidate, then=((other, 0) for other in then))
        self.tried[delta] += 1
        self.calls[delta] += judgement.calls
        if judgement.verdict.paid and not judgement.stored:
            self.paid += 1
        attempt = judgement.attempt
        broken = candidate.source and candidate.recipe.last_stage is Stage.EAGER  # by the edit
        other = judgement.verdict is not Verdict.SAME and not broken
        if other and attempt is not None and attempt.failure:
            self._slip(candidate, attempt)
        best = candidate if self._best is None else self._best
        self._report(
            Judged(
                delta,
                judgement.verdict,
                candidate.operators,
                best.operators,
                self.paid,
                judgement.seconds,
                judgement.stored,
                self.left,
            )
        )
        return judgement

    def evidence(self, delta: Delta) -> list[Evidence]:
        """For each edit of the best case that would make it simpler: the verdict."""
        edits = delta.edits(self.best)
        made = [(edit, delta.apply(self.best, [edit])) for edit in edits]
        tried = [(edit, case) for edit, case in made if self._may_be_tried(case)]
        found = []
        for number, (edit, candidate) in enumerate(tried, 1):
            later = (case for _, case in tried[number:])
            judgement = self.judge(candidate, "certificate", later)
            found.append(
                Evidence(
                    edit.element, f"{delta.NAME}: {edit.what}", judgement.verdict, judgement.detail
                )
            )
        return found

    def _slip(self, case: Case, attempt: Attempt) -> None:
        assert attempt.failure is not None
        signature = signature_of(attempt.failure)
        known = self.slips.get(signature)
        if known is None or is_simpler(case, known.case):
            self.slips[signature] = Slipped(case, replace(attempt, partition=(), suspects=()))
