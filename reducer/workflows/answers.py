"""What does the answer to a capture mean: a case to reduce, or why there is none?"""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path

from reducer.core.case import Case
from reducer.core.errors import BadInput, ExitCode, NoFailure, NotHandled, ReducerError
from reducer.core.kind import Kind
from reducer.core.signature import Failure, signature_of
from reducer.core.stage import Stage
from reducer.core.wire import Broken, Capture, Death, Refused, Result, Spelled
from reducer.workflows.settings import ReduceSettings


def captured_or_raise(result: Result, settings: ReduceSettings, log: Path) -> Capture:
    """The capture; raises a ReducerError for every other answer. ``log`` holds all output."""
    if isinstance(result, Capture):
        return result
    if isinstance(result, Refused):
        error = BadInput(result.message, hint=result.hint)
        error.exit_code = ExitCode(result.exit_code)
        raise error
    if isinstance(result, Death):
        raise _death(result, settings.subject, log)
    if isinstance(result, Broken):
        raise ReducerError(
            f"capturing {settings.subject} failed inside reducer; this is a bug in it: "
            f"{result.traceback.strip().splitlines()[-1]}",
            hint=f"please report it with the traceback, which is in {log}",
        )
    raise TypeError(f"a capture job cannot answer {type(result).__name__}")


def failing_case(captured: Capture, settings: ReduceSettings) -> tuple[Case, Failure]:
    """The case and how it fails; raises a ReducerError if there is nothing to reduce."""
    failure = captured.attempt.failure
    if failure is None:
        backend = captured.case.recipe.backend if captured.case else settings.backend
        without = f"breaking {settings.oracle}" if settings.oracle else "an error"
        if settings.asked is not None:
            without = f"what the oracle ({settings.asked.name}) looks for"
        raise NoFailure(
            f"{settings.subject} does not fail: {captured.form or 'it'} was lowered with {backend}"
            f" up to {Stage.TO_EXECUTORCH} without {without}",
            hint="; ".join([*captured.notes, "it may fail with another --backend"]),
        )
    if captured.case is None:
        raise NotHandled(
            f"{settings.subject} fails in stage {failure.stage}, before there is a graph, and has no"
            f" source that could be reduced: {failure.headline}",
            hint="hand in the Python file that defines the model",
        )
    if settings.asked is not None and failure.kind is not Kind.PROPERTY:
        raise BadInput(
            f"{settings.subject} is not lowered, so the oracle cannot be asked: {failure.headline}",
            hint="without an oracle it is that which is reduced",
        )
    if not settings.rule.same(signature_of(failure), failure):
        raise BadInput(
            f"--match-regex {settings.rule.regex!r} does not match the failure: {failure.headline}",
            hint=f"innermost cause: {failure.cause}",
        )
    return captured.case, failure


def difference(case: Case, rebuilt: Result) -> str:
    """Where a rebuilt case's operators differ from the captured ones first, in words."""
    if not isinstance(rebuilt, Spelled) or rebuilt.error:
        return f"it cannot be exported again: {getattr(rebuilt, 'error', '') or rebuilt}"[:300]
    nodes = case.graph.nodes
    for node, target in zip_longest(nodes, rebuilt.targets[: len(nodes)]):
        if node is None or node.target != target:
            name = node.name if node is not None else "the end"
            return f"the first operator that differs is {name}: {target or 'nothing'} now"
    return "its operators are the same"


def _death(death: Death, subject: str, log: Path) -> ReducerError:
    where = f" in stage {death.stage}" if death.stage else ""
    if death.kind == "timeout":
        return BadInput(
            f"{subject} did not come to an end within {death.detail}{where}",
            hint="give it more with --timeout, or look for an endless loop",
        )
    how = {
        "signal": f"the process died of {death.detail}",
        "exit": f"the process ended itself with exit code {death.detail}",
        "memory": f"the process used more than {death.detail} of memory",
    }[death.kind]
    last = death.output.strip().splitlines()[-1:]
    said = f"the last it said: {last[0].strip()[:200]}; " if last else ""
    return NotHandled(
        f"{subject}: {how}{where}, which this version does not reduce yet",
        hint=f"{said}all of its output is in {log}",
    )
