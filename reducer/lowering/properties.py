"""Has what a program is lowered to a property that it should not have? Then that is the failure."""

from __future__ import annotations

import linecache
from dataclasses import replace

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
    try:
        lowered = lower(program, replace(plan, last_stage=asked.stage), clock)
    except Exception as error:
        return attempt_from_exception(error, program, clock.stage or asked.stage, clock.seconds)
    try:
        with clock.at(asked.stage):
            found = interesting(lowered)
    except Exception as error:
        raise _raised(asked, error) from error
    if not found:
        return Attempt(seconds=clock.seconds)
    reason = " ".join(found.split()) if isinstance(found, str) else UNTOLD
    failure = Failure(asked.stage, (ChainLink(asked.title, reason),), kind=Kind.PROPERTY)
    return Attempt(failure, suspects=origin.called(reason), seconds=clock.seconds)


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
