"""Which failure is it, that an invariant does not hold? The first violation, as an Attempt."""

from __future__ import annotations

from typing import Any

from torch.export import ExportedProgram

from reducer.core.diagnosis import Violation
from reducer.core.signature import ChainLink, Failure, Frame
from reducer.core.stage import Stage
from reducer.core.wire import Attempt
from reducer.lowering.failure import attempt_from_exception
from reducer.lowering.pipeline import LoweringPlan, StageClock, lower
from reducer.lowering.watch.identity import Identity
from reducer.lowering.watch.invariants import chosen
from reducer.lowering.watch.run import Run
from reducer.lowering.watch.watch import Watch


def lower_watched(
    program: ExportedProgram, plan: LoweringPlan, clock: StageClock, oracle: str
) -> Attempt:
    """Lower a program; the failure is the first violation of the invariant, else what it raises.

    Raises SubjectError if no invariant has that name.
    """
    watch = Watch(program, chosen([oracle]), clock)
    error: Exception | None = None
    try:
        with watch:
            lower(program, plan, clock)
    except Exception as raised:
        error = raised
    if watch.culprits:
        return _attempt(watch, watch.culprits[0], clock.seconds)
    if error is not None:
        stage = clock.stage or Stage.TO_EDGE
        return attempt_from_exception(error, program, stage, clock.seconds)
    return Attempt(seconds=clock.seconds)


def failure_of(
    violation: Violation, who: Identity, stage: Stage, passes: tuple[str, ...]
) -> Failure:
    """The violation as a failure: raised, as it were, by the code of the pass."""
    module, _, function = who.function.partition(":")
    link = ChainLink(violation.invariant, violation.what, (Frame(module, function),))
    return Failure(stage, (link,), passes)


def _attempt(watch: Watch, run: Run, seconds: tuple[tuple[str, float], ...]) -> Attempt:
    partition: tuple[str, ...] = ()
    if run.delegate is not None and watch.origin is not None:
        partition = watch.partitions.facts(run.delegate, watch.origin.of).nodes
    failure = failure_of(run.violations[0], run.who, run.stage, _passes(run))
    return Attempt(failure, partition=partition, suspects=tuple(run.suspects), seconds=seconds)


def _passes(run: Run) -> tuple[str, ...]:
    """Names of the passes on the stack, outer to inner."""
    names: list[str] = []
    current: Any = run
    while current is not None:
        names.append(current.who.name)
        current = current.parent
    return tuple(names[::-1])
