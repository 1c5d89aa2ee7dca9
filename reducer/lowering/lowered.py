"""Does lowering a program fail, under this oracle, and how?"""

from __future__ import annotations

from torch.export import ExportedProgram

from reducer.core.stage import Stage
from reducer.core.wire import Attempt
from reducer.lowering.failure import attempt_from_exception
from reducer.lowering.pipeline import LoweringPlan, StageClock, lower


def lowered(
    program: ExportedProgram, plan: LoweringPlan, clock: StageClock, oracle: str = ""
) -> Attempt:
    """Lower the program up to the plan's last stage.

    ``oracle`` "": it fails if that raises; else it is the name of an invariant, and it fails if some
    compiler pass breaks that. Raises SubjectError if no invariant has that name.
    """
    if oracle:
        from reducer.lowering.watch.oracle import lower_watched

        return lower_watched(program, plan, clock, oracle)
    try:
        lower(program, plan, clock)
    except Exception as error:
        stage = clock.stage or Stage.TO_EDGE
        return attempt_from_exception(error, program, stage, clock.seconds)
    return Attempt(seconds=clock.seconds)
