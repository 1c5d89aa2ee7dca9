"""`reduce` at the level of the graph: isolation from the first failure, then edits until none helps.

Everything of its search that comes before the certificate. Attributes (shapes, dtypes, scalars) are
included, which no other tool here makes simpler; without them it does what the others do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reducer.core.case import Case
from reducer.core.delta import Delta
from reducer.deltas import ATTRIBUTES
from reducer.search.bisect_last import bisect_last
from reducer.workflows.reduction import Reduction
from reducer.workflows.strategy import isolate, minimise
from tests.bench.task import Task

#: What the product does and no other tool here: verdicts are looked up before they are paid for.
STORE = True


def minimize(items: Sequence[str], fails: Callable[[Sequence[str]], bool]) -> list[str]:
    """The search for the needed calls alone."""
    return bisect_last(items, fails)


def run(task: Task, attributes: Sequence[Delta] = ATTRIBUTES) -> Case:
    """Isolate and minimise."""
    reduction = Reduction(task.oracle)
    if not isolate(reduction, task.case, task.attempt, lambda _: None):
        raise RuntimeError("the captured case, rebuilt, does not fail in the same way")
    minimise(reduction, lambda _: None, attributes)
    return reduction.best
