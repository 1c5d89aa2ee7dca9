"""What do other backends make of the smallest case? One call each, of the few that are quickly asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from reducer.core.case import Case, Graph, Input, Node, Ref, TensorSpec
from reducer.core.finding import Elsewhere
from reducer.core.recipe import Recipe
from reducer.core.signature import MatchRule, Signature
from reducer.core.stage import Stage
from reducer.core.verdict import Verdict
from reducer.core.wire import Attempt, Backends, BackendsJob, BackendStatus, JudgeJob, Limits
from reducer.graph.canonical import case_digest
from reducer.oracle.ahead import Ahead, Question
from reducer.oracle.judge import judge_question
from reducer.oracle.remembered import remembered
from reducer.oracle.store import Store
from reducer.oracle.worker import Worker

#: A program that every backend lowers, or leaves alone, if it works here at all.
_CONTROL = Graph(
    (Input("x", "input", TensorSpec((1,), "float32")),),
    (Node("relu", "aten.relu.default", (Ref("x"),), spec=TensorSpec((1,), "float32")),),
    (Ref("relu"),),
)


class Others:
    """The case on each backend that can be used here without options, its own left out.

    What is asked is begun at once, as far as there is a core to spare for it.
    """

    def __init__(
        self,
        case: Case,
        worker: Worker,
        store: Store,
        data: Path,
        limits: Limits,
        *,
        oracle: str = "",
        spare: int = 0,
    ) -> None:
        self._store, self._data, self._limits = store, data, limits
        self._ahead = Ahead(worker, spare)
        self._asked = [
            (row, self._question(replace(case, recipe=_recipe(case, row)), oracle))
            for row in _usable(case, worker, store, limits)
        ]
        self._ahead.begin(self._unknown(0))

    def verdicts(self, wanted: Signature, rule: MatchRule) -> tuple[Elsewhere, ...]:
        """A verdict per backend.

        One on which not even a trivial program lowers is left out: that says nothing about the case.
        """
        return tuple(self._verdicts(wanted, rule))

    def _verdicts(self, wanted: Signature, rule: MatchRule) -> Iterator[Elsewhere]:
        for number, (row, question) in enumerate(self._asked, 1):
            seen = self._attempt(question, number)
            if seen is None or seen.invalid or seen.unchecked:
                continue
            if seen.failure is None:
                yield Elsewhere(row.name, Verdict.PASSES)
            elif rule.same(wanted, seen.failure):
                yield Elsewhere(row.name, Verdict.SAME)
            else:
                partitioners = (row.partitioner,) if row.partitioner else ()
                control = Case(_CONTROL, Recipe(row.name, partitioners))
                sound = self._attempt(self._question(control, ""), number)
                if sound is not None and sound.failure is None and not sound.invalid:
                    yield Elsewhere(row.name, Verdict.OTHER, seen.failure.cause)

    def _question(self, case: Case, oracle: str) -> Question:
        job = JudgeJob(case, str(self._data), oracle)
        return judge_question(job, self._limits, self._ahead.worker.environment, case_digest(case))

    def _attempt(self, question: Question, number: int) -> Attempt | None:
        known = self._store.get(question.key)
        if known is None:
            answer = self._ahead.answer(question, self._unknown(number))
            self._store.put(question.key, answer.result, answer.seconds)
            known = answer.result, answer.seconds
        return known[0] if isinstance(known[0], Attempt) else None

    def _unknown(self, number: int) -> Iterator[Question]:
        """The questions from that number on whose answer is not known."""
        later = (question for _, question in self._asked[number:])
        return (question for question in later if self._store.get(question.key) is None)


def _recipe(case: Case, row: BackendStatus) -> Recipe:
    """The case's recipe with another backend's partitioner, lowered to the end at least."""
    partitioners = (row.partitioner,) if row.partitioner else ()
    last = max(case.recipe.last_stage, Stage.TO_EXECUTORCH, key=lambda stage: stage.rank)
    return replace(case.recipe, backend=row.name, partitioners=partitioners, last_stage=last)


def _usable(case: Case, worker: Worker, store: Store, limits: Limits) -> Sequence[BackendStatus]:
    job = BackendsJob(few=True)
    result = remembered(worker, store, ("backends", "few"), job, limits, Backends)
    if not isinstance(result, Backends):
        return ()
    given = case.recipe.partitioners
    return [
        row
        for row in result.rows
        if row.usable
        and (row.partitioner is not None or case.recipe.asked is None)
        and (row.partitioner is None or not row.reason)
        and (row.partitioner.path if row.partitioner else "")
        not in ([item.path for item in given] or [""])
    ]
