"""What do other backends make of the smallest case? One call each, of the few that are quickly asked."""

from __future__ import annotations

from collections.abc import Sequence
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
from reducer.oracle.remembered import remembered
from reducer.oracle.store import Store
from reducer.oracle.worker import Worker

#: A program that every backend lowers, or leaves alone, if it works here at all.
_CONTROL = Graph(
    (Input("x", "input", TensorSpec((1,), "float32")),),
    (Node("relu", "aten.relu.default", (Ref("x"),), spec=TensorSpec((1,), "float32")),),
    (Ref("relu"),),
)


def elsewhere(
    case: Case,
    worker: Worker,
    store: Store,
    data: Path,
    limits: Limits,
    wanted: Signature,
    rule: MatchRule,
    oracle: str = "",
) -> tuple[Elsewhere, ...]:
    """A verdict per backend that can be used here without options, the case's own left out.

    A backend on which not even a trivial program lowers is left out too: that says nothing about the case.
    """

    def attempt(asked: Case, oracle: str) -> Attempt | None:
        key = (f"judge {oracle}".strip(), case_digest(asked))
        result = remembered(worker, store, key, JudgeJob(asked, str(data), oracle), limits)
        return result if isinstance(result, Attempt) else None

    found = []
    for row in _usable(case, worker, store, limits):
        recipe = _recipe(case, row)
        seen = attempt(replace(case, recipe=recipe), oracle)
        if seen is None or seen.invalid or seen.unchecked:
            continue
        if seen.failure is None:
            found.append(Elsewhere(row.name, Verdict.PASSES))
        elif rule.same(wanted, seen.failure):
            found.append(Elsewhere(row.name, Verdict.SAME))
        else:
            control = attempt(Case(_CONTROL, Recipe(row.name, recipe.partitioners)), "")
            if control is not None and control.failure is None and not control.invalid:
                found.append(Elsewhere(row.name, Verdict.OTHER, seen.failure.cause))
    return tuple(found)


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
