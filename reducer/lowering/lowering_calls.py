"""What is a script lowering with this call, and how?

One handler per function of ExecuTorch: it reads the arguments before the call is made (the call
changes some of them), and puts the user's backend in the place of the script's partitioners.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from torch.export import ExportedProgram

from reducer.core.case import Case
from reducer.core.recipe import Recipe
from reducer.core.stage import Stage
from reducer.lowering.backends import name_of
from reducer.lowering.errors import SubjectError
from reducer.lowering.observed import Lowering, Method
from reducer.lowering.recipes import (
    express_config,
    express_partitioner,
    express_partitioners,
    express_passes,
)

#: Makes a case of a program before it is lowered.
Snapshot = Callable[[ExportedProgram, Recipe], Case]


class Skip(Exception):
    """The call is not to be made; its result is ``result``."""

    def __init__(self, result: Any) -> None:
        super().__init__()
        self.result = result


class LoweringCalls:
    """Handlers: each takes bound arguments, may change them, and says what is being lowered.

    ``managers`` knows the lowering of every edge manager. ``override``, if given, makes the
    partitioners that replace the script's. ``delegate`` calls a manager's observed ``to_backend``.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        override: Callable[[], list[Any]] | None,
        delegate: Callable[[Any, Any], Any],
    ) -> None:
        self.managers: WeakKeyDictionary[Any, Lowering] = WeakKeyDictionary()
        self._snapshot = snapshot
        self._override = override
        self._delegate = delegate
        self._replacing = False

    def lower(self, call: inspect.BoundArguments) -> Lowering:
        """``to_edge_transform_and_lower``."""
        given = call.arguments
        partitioners = given.get("partitioner")
        if self._override is not None:
            partitioners = given["partitioner"] = self._override()
        notes: list[str] = []
        config = express_config(given.get("compile_config"), notes.append)
        methods = {}
        for name, program in _by_method(given.get("programs")).items():
            own = partitioners.get(name) if isinstance(partitioners, dict) else partitioners
            expressed = express_partitioners(own, notes.append)
            passes = express_passes(given.get("transform_passes"), name, notes.append)
            recipe = Recipe(
                name_of(expressed), expressed, config, passes, last_stage=Stage.PREPROCESS
            )
            methods[name] = self._take(program, recipe)
        return Lowering(methods, delegated=True, notes=tuple(notes))

    def to_edge(self, call: inspect.BoundArguments) -> Lowering:
        """``to_edge``, the first of two steps."""
        notes: list[str] = []
        config = express_config(call.arguments.get("compile_config"), notes.append)
        recipe = Recipe(compile_config=config, two_steps=True, last_stage=Stage.TO_EDGE)
        programs = _by_method(call.arguments.get("programs"))
        methods = {name: self._take(program, recipe) for name, program in programs.items()}
        return Lowering(methods, notes=tuple(notes))

    def transform(self, call: inspect.BoundArguments) -> Lowering | None:
        """``EdgeProgramManager.transform``."""
        notes: list[str] = []
        lowering = self.managers.get(call.arguments["self"])
        if lowering is None:
            return None
        if lowering.delegated:
            return lowering.having(["passes applied after delegation are left out"])
        passes = call.arguments.get("passes")

        def change(name: str, recipe: Recipe) -> Recipe:
            more = express_passes(passes, name, notes.append)
            return replace(recipe, transform_passes=(*recipe.transform_passes, *more))

        return lowering.each(change, notes)

    def to_backend(self, call: inspect.BoundArguments) -> Lowering | None:
        """``EdgeProgramManager.to_backend``, the second of two steps."""
        lowering = self.managers.get(call.arguments["self"])
        if lowering is None:
            return None
        if self._override is not None and not self._replacing:
            if lowering.delegated or not (own := self._override()):
                raise Skip(call.arguments["self"])
            lowering = self._replaced(call, own[:-1])
            call.arguments["partitioner"] = own[-1]
        partitioner = call.arguments["partitioner"]
        notes: list[str] = []

        def change(name: str, recipe: Recipe) -> Recipe:
            own = partitioner.get(name) if isinstance(partitioner, dict) else partitioner
            if own is None:
                return recipe
            found = (*recipe.partitioners, express_partitioner(own, notes.append))
            return replace(
                recipe, backend=name_of(found), partitioners=found, last_stage=Stage.PREPROCESS
            )

        return lowering.each(change, notes, delegated=True)

    def to_executorch(self, call: inspect.BoundArguments) -> Lowering | None:
        """``EdgeProgramManager.to_executorch``."""
        lowering = self.managers.get(call.arguments["self"])
        if lowering is None:
            return None
        if self._override is not None and not lowering.delegated and (own := self._override()):
            # In place of the call that the script leaves out.
            lowering = self._replaced(call, own)
        notes: list[str] = []
        config = express_config(call.arguments.get("config"), notes.append)
        return lowering.having(notes, executorch_config=config, last_stage=Stage.TO_EXECUTORCH)

    def _replaced(self, call: inspect.BoundArguments, own: list[Any]) -> Lowering:
        """The call's manager, delegated to partitioners of the user's choice; what it carries."""
        self._replacing = True
        try:
            for partitioner in own:
                call.arguments["self"] = self._delegate(call.arguments["self"], partitioner)
        finally:
            self._replacing = False
        return self.managers[call.arguments["self"]]

    def _take(self, program: ExportedProgram, recipe: Recipe) -> Method:
        try:
            return Method(program, self._snapshot(program, recipe), recipe)
        except SubjectError as error:
            return Method(program, error, recipe)


def _by_method(programs: Any) -> dict[str, ExportedProgram]:
    if isinstance(programs, ExportedProgram):
        return {"forward": programs}
    return dict(programs) if isinstance(programs, dict) else {}
