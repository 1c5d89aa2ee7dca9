"""Has what a program is lowered to a property that it should not have? Then that is the failure."""

from __future__ import annotations

import linecache
from dataclasses import replace
from typing import Any

from torch.export import ExportedProgram

from reducer.core.kind import Kind
from reducer.core.property import FUNCTION, UNTOLD, Property
from reducer.core.signature import ChainLink, Failure
from reducer.core.wire import Attempt
from reducer.lowering.errors import SubjectError, headline
from reducer.lowering.failure import Origin, attempt_from_exception
from reducer.lowering.pipeline import LoweringPlan, StageClock, lower


def lower_and_ask(
    program: ExportedProgram, plan: LoweringPlan, clock: StageClock, asked: Property
) -> Attempt:
    """Lower a program as far as the property needs, and ask whether it holds; else what lowering raises.

    The calls whose operators the reason names are suspects. Raises SubjectError if it raises itself.
    """
    origin = Origin(program)
    interesting = _function(asked)
    lowering = _Lowering(replace(plan, last_stage=asked.stage), clock)
    try:
        if asked.lowers:
            found = interesting(program, lowering.anew)
        else:
            lowered = lowering.once(program)
            with clock.at(asked.stage):
                found = interesting(lowered)
    except Exception as error:
        if error is lowering.raised:
            return attempt_from_exception(error, program, clock.stage or asked.stage, clock.seconds)
        raise _raised(asked, error) from error
    if not found:
        return Attempt(seconds=clock.seconds)
    reason = " ".join(found.split()) if isinstance(found, str) else UNTOLD
    failure = Failure(asked.stage, (ChainLink(asked.title, reason),), kind=Kind.PROPERTY)
    return Attempt(failure, suspects=origin.called(reason), seconds=clock.seconds)


class _Lowering:
    """Lowers by a plan, and keeps what lowering raised: that is no fault of the oracle that called it."""

    def __init__(self, plan: LoweringPlan, clock: StageClock) -> None:
        self._plan, self._clock = plan, clock
        self.raised: Exception | None = None

    def once(self, program: ExportedProgram) -> Any:
        """Lower with the plan's own objects."""
        return self._lower(program, self._plan)

    def anew(self, program: ExportedProgram) -> Any:
        """Lower with objects as new as in a script, where each call makes its own."""
        return self._lower(program, self._plan.anew())

    def _lower(self, program: ExportedProgram, plan: LoweringPlan) -> Any:
        try:
            return lower(program, plan, self._clock)
        except Exception as error:
            self.raised = error
            raise


def _function(asked: Property):  # type: ignore[no-untyped-def]
    """The function that the source defines. Raises SubjectError if its code raises."""
    name = f"<{asked.name}>"
    linecache.cache[name] = (len(asked.source), None, asked.source.splitlines(True), name)
    names: dict[str, object] = {"__name__": "reducer_property"}
    try:
        exec(compile(asked.source, name, "exec"), names)
    except Exception as error:
        raise _raised(asked, error) from error
    return names[FUNCTION]


def _raised(asked: Property, error: Exception) -> SubjectError:
    return SubjectError(
        f"the oracle ({asked.name}) raises {headline(error)}",
        hint="it is to return True, or a reason, or something false for a program that is fine",
    )
