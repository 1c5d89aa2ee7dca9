"""Does lowering a program fail, or what comes of it, and how?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from torch.export import ExportedProgram

from reducer.core.stage import Stage
from reducer.core.wire import Attempt
from reducer.lowering.execution import Inputs, Reference, example_set, run
from reducer.lowering.failure import attempt_from_exception, logged_operators
from reducer.lowering.numbers import Tolerance
from reducer.lowering.pipeline import LoweringPlan, StageClock, lower


def lowered(
    program: ExportedProgram,
    plan: LoweringPlan,
    clock: StageClock,
    oracle: str = "",
    more: Sequence[Inputs] = (),
) -> Attempt:
    """Lower the program up to the plan's last stage; run it if that is one of the runtime's.

    It runs on its example inputs, and on ``more``. ``oracle`` "": it fails if anything raises or if
    the numbers are wrong; else it is the name of an invariant, and it fails if some compiler pass
    breaks that. If the plan has a property, it fails if what comes of it has that. Raises SubjectError
    if no invariant has that name, and if a property cannot be asked.
    """
    if oracle:
        from reducer.lowering.watch.oracle import lower_watched

        return lower_watched(program, plan, clock, oracle)
    if plan.asked is not None:
        from reducer.lowering.properties import lower_and_ask

        return lower_and_ask(program, plan, clock, plan.asked)
    sets = (*example_set(program), *more)
    tolerance = Tolerance(plan.rtol, plan.atol, quantised(program))
    manager = None
    try:
        reference = Reference(program) if plan.last_stage is Stage.COMPARE else None
        manager = lower(program, plan, clock)
        if plan.last_stage.rank < Stage.LOAD_PTE.rank:
            return Attempt(seconds=clock.seconds)
        unchecked = run(manager, program, sets, clock, plan.last_stage, reference, tolerance)
    except Exception as error:
        stage = clock.stage or Stage.TO_EDGE
        attempt = attempt_from_exception(error, program, stage, clock.seconds, clock.logged)
        if manager is None or attempt.suspects:
            return attempt
        return replace(attempt, suspects=logged_operators(manager, program, clock.logged))
    return Attempt(seconds=clock.seconds, unchecked=unchecked)


def quantised(program: ExportedProgram) -> bool:
    """Whether it has been through PT2E quantization."""
    return any("quantize_per" in str(node.target) for node in program.graph.nodes)
