"""Does a piece of source fail, and how? Run it, and call its function."""

from __future__ import annotations

import copy
import functools
import inspect
import linecache
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import torch

from reducer.core.case import Case
from reducer.core.python_source import ENTRY
from reducer.core.stage import Stage
from reducer.core.wire import Attempt, JudgeJob
from reducer.lowering.errors import SubjectError, headline
from reducer.lowering.failure import attempt_from_exception
from reducer.lowering.pipeline import StageClock
from reducer.lowering.script import surroundings
from reducer.lowering.user_modules import provide

#: Under this name tracebacks show the source.
_FILE = "<source>"


def judge_source(job: JudgeJob, clock: StageClock) -> Attempt:
    """Call the function that the recipe's last stage names; source without it is invalid."""
    stage = job.case.recipe.last_stage
    with surroundings(), exporting() as calls:
        try:
            with clock.at(Stage.LOAD):
                provide(job.case, job.data_dir)
                function = vars(as_main(job.case)).get(ENTRY[stage])
        except SubjectError as error:
            return Attempt(invalid=error.message, gate="load", seconds=clock.seconds)
        except BaseException as error:  # a candidate may be any nonsense: the verdict says so
            return Attempt(invalid=headline(error), gate="load", seconds=clock.seconds)
        if not callable(function):
            reason = f"there is no function {ENTRY[stage]}"
            return Attempt(invalid=reason, gate="load", seconds=clock.seconds)
        try:
            with clock.at(stage):
                function()
        except Exception as error:
            seen = _stage(error, stage, calls)
            if seen is Stage.EAGER and stage is not seen:
                reason = f"the model does not run: {headline(error)}"
                return Attempt(invalid=reason, gate="run", seconds=clock.seconds)
            return attempt_from_exception(error, None, seen, clock.seconds)
        except SystemExit as error:
            return Attempt(invalid=headline(error), gate="run", seconds=clock.seconds)
    return Attempt(seconds=clock.seconds)


def as_main(case: Case) -> ModuleType:
    """Run the source as ``__main__``, where a script's classes are."""
    source = case.source
    linecache.cache[_FILE] = (len(source), None, source.splitlines(True), _FILE)
    module = ModuleType("__main__")
    module.__file__ = _FILE
    sys.modules["__main__"] = module
    exec(compile(source, _FILE, "exec", dont_inherit=True), module.__dict__)
    return module


Exports = list[tuple[Any, tuple[Any, ...], dict[str, Any]]]


@contextmanager
def exporting() -> Iterator[Exports]:
    """Notes what ``torch.export.export`` was called with: (model, args, kwargs), if it did not return."""
    original: Any = torch.export.export
    failed: Exports = []
    signature = inspect.signature(original)

    @functools.wraps(original)
    def export(*given: Any, **named: Any) -> Any:
        call = signature.bind(*given, **named).arguments
        failed.append((call["mod"], call["args"], call.get("kwargs") or {}))
        program = original(*given, **named)
        failed.pop()
        return program

    torch.export.export = export
    try:
        yield failed
    finally:
        torch.export.export = original


def _stage(error: Exception, asked: Stage, calls: Exports) -> Stage:
    """Export, if that raised; and if the model takes these inputs without being exported."""
    if not calls:
        return asked if asked is not Stage.EXPORT else Stage.EAGER
    model, args, kwargs = calls[-1]
    try:
        with torch.no_grad():
            model(*copy.deepcopy(args), **copy.deepcopy(kwargs))
    except Exception:
        return Stage.EAGER
    return Stage.EXPORT
