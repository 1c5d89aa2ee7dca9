"""What did a script do, of all that concerns its lowering? The record of one run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from torch.export import ExportedProgram

from reducer.core.case import Case
from reducer.core.recipe import Recipe
from reducer.core.stage import Stage
from reducer.lowering.errors import SubjectError


@dataclass(frozen=True)
class Method:
    """One program on its way down: as exported, as a case taken before anything changed it, how.

    ``case`` is the error instead where the program has no case.
    """

    program: ExportedProgram
    case: Case | SubjectError
    recipe: Recipe


@dataclass(frozen=True)
class Lowering:
    """The programs (by method name) that one edge manager carries, and what was done to them.

    ``delegated``: partitioners were given. ``notes``: what the recipes could not say.
    """

    methods: dict[str, Method]
    delegated: bool = False
    notes: tuple[str, ...] = ()

    def having(self, notes: list[str], delegated: bool = False, **changes: Any) -> Lowering:
        """The same programs with fields of all recipes changed."""
        return self.each(lambda name, recipe: replace(recipe, **changes), notes, delegated)

    def each(self, change: Any, notes: list[str], delegated: bool = False) -> Lowering:
        """The same programs with recipes ``change(method name, recipe)``."""
        methods = {
            name: replace(method, recipe=change(name, method.recipe))
            for name, method in self.methods.items()
        }
        return Lowering(methods, self.delegated or delegated, (*self.notes, *notes))


@dataclass
class Observation:
    """One call of the script into torch.export, quantization, ExecuTorch or its runtime.

    ``handled`` is the exception that the script was handling when it made the call; ``trouble`` is
    why the call could not be read; ``inputs`` what the ``.pte`` is run on.
    """

    name: str
    stage: Stage
    lowering: Lowering | None = None
    program: ExportedProgram | None = None
    error: Exception | None = None
    handled: BaseException | None = None
    trouble: Exception | None = None
    inputs: tuple[Any, ...] | None = None


@dataclass
class Record:
    """All calls of a run, in order, and the exception that ended the script, if any."""

    calls: list[Observation] = field(default_factory=list)
    ending: BaseException | None = None

    @property
    def lowered(self) -> bool:
        """Whether anything beyond export was called: what makes a file a script that lowers."""
        return any(call.stage not in (Stage.EXPORT, Stage.QUANTIZE) for call in self.calls)

    def decisive(self) -> Observation | None:
        """The call that counts.

        The one whose exception ended the script, be it as a cause; else the first lowering whose
        exception the script swallowed; else the last lowering that passed; else any that raised.
        """
        failed = [call for call in self.calls if call.error is not None]
        for link in chain(self.ending):
            for call in failed:
                if call.error is link:
                    return call
        lowered = [call for call in self.calls if call.lowering or call.trouble]
        swallowed = [call for call in lowered if call.error is not None]
        return next(iter([*swallowed, *reversed(lowered), *failed]), None)

    def exported(self) -> ExportedProgram | None:
        """The last program that the script exported."""
        programs = [call.program for call in self.calls if call.program is not None]
        return programs[-1] if programs else None


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """The exception, and the ones it was raised from or while handling."""
    seen: list[BaseException] = []
    waiting = [error]
    while waiting:
        link = waiting.pop()
        if link is not None and not any(link is other for other in seen):
            seen.append(link)
            yield link
            waiting += [link.__context__, link.__cause__]


def detach(error: BaseException, handled: BaseException | None) -> None:
    """Cut off what the script was handling when it made the call: it is no cause of ``error``."""
    if handled is None or error is handled:
        return
    for link in list(chain(error)):
        if link.__context__ is handled:
            link.__context__ = None
