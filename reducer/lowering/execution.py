"""Does the ``.pte`` load, run and give the right numbers here? Asked when lowering itself passes.

Only what the runtime in the wheel can run: programs whose delegates it has registered.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch.export import ExportedProgram

from reducer.core.stage import Stage
from reducer.lowering.errors import headline
from reducer.lowering.numbers import Tolerance, compare
from reducer.lowering.pipeline import StageClock

#: Positional and keyword arguments of one run.
Inputs = tuple[tuple[Any, ...], dict[str, Any]]


class Reference:
    """The exported program as it was before it was lowered: passes may write to what they are given."""

    def __init__(self, program: ExportedProgram) -> None:
        self._module = copy.deepcopy(program.module())  # which shares its buffers with the program

    def outputs(self, sets: Sequence[Inputs]) -> tuple[list[list[Any]], str]:
        """What it returns for each set of inputs; and why that is nothing to compare with, or "".

        It runs twice: what differs then cannot be compared with anything.
        """
        found = []
        for inputs in sets:
            try:
                first, second = (self._call(inputs) for _ in range(2))
            except Exception as error:  # an assertion about its data
                return [], f"the exported program itself raises {headline(error)}"
            for one, other in zip(first, second, strict=True):
                if isinstance(one, torch.Tensor) and not _equal(one, other):
                    return [], "the program gives other numbers each time"
            found.append(first)
        return found, ""

    def _call(self, inputs: Inputs) -> list[Any]:
        args, kwargs = _copied(inputs)
        module = copy.deepcopy(self._module)
        with torch.no_grad():
            result = module(*args, **kwargs)
        return [leaf for leaf in torch.utils._pytree.tree_leaves(result) if leaf is not None]


def run(
    manager: Any,
    program: ExportedProgram,
    sets: Sequence[Inputs],
    clock: StageClock,
    last_stage: Stage,
    reference: Reference | None,
    tolerance: Tolerance,
) -> str:
    """Run the lowered program on each set of inputs, up to a stage. Raises what goes wrong.

    ``reference`` is what it is compared with, None if it is not. Returns why it could not be asked, or "".
    """
    from executorch.runtime import Runtime

    if not sets:
        return "there are no example inputs"
    runtime = Runtime.get()
    missing = delegates(manager) - set(runtime.backend_registry.registered_backend_names)
    if missing:
        return f"no runtime here for {', '.join(sorted(missing))}"
    with clock.at(Stage.LOAD_PTE):
        loaded = runtime.load_program(manager.buffer)
    if last_stage is Stage.LOAD_PTE:
        return ""
    outputs = []
    with clock.at(Stage.EXECUTE):
        method = loaded.load_method("forward")  # delegates are initialised here
        for inputs in sets:
            leaves = torch.utils._pytree.tree_leaves(_copied(inputs))
            outputs.append(list(method.execute(leaves)))
    if reference is None:
        return ""
    with clock.at(Stage.EAGER):
        expected, unknown = reference.outputs(sets)
    if unknown:
        return unknown
    with clock.at(Stage.COMPARE):
        signature = manager.exported_program().graph_signature  # functional: it tells what changes
        if _forgotten(program, signature.buffers_to_mutate.values()):
            return "it keeps no initial numbers of buffers that the model changes"
        # inputs that are written to are returned as well, before all else
        first = len(signature.user_inputs_to_mutate)
        for want, got in zip(expected, outputs, strict=True):
            compare(want, got[first:], tolerance)
            if signature.buffers_to_mutate:
                break  # a run changes what the next one starts from
    return ""


def example_set(program: ExportedProgram) -> tuple[Inputs, ...]:
    """The inputs that the program was exported with, if it has kept them."""
    return () if program.example_inputs is None else (program.example_inputs,)


def delegates(manager: Any) -> set[str]:
    """Names of the backends that the program needs at run time."""
    plans = manager.executorch_program.execution_plan
    return {delegate.id for plan in plans for delegate in plan.delegates}


def _equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and torch.equal(one.nan_to_num(), other.nan_to_num())


def _forgotten(program: ExportedProgram, changed: Iterable[str]) -> bool:
    """Whether one of the buffers that are written to does not start as zeros.

    Such a buffer is only its shape and dtype in a ``.pte``.
    """
    state = {**program.constants, **program.state_dict}
    return any(name in state and bool(state[name].any()) for name in changed)


def _cloned(leaf: Any) -> Any:
    return leaf.clone() if isinstance(leaf, torch.Tensor) else leaf


def _copied(inputs: Inputs) -> Inputs:
    """Copies: a program may write to what it is given."""
    copied: Inputs = torch.utils._pytree.tree_map(_cloned, inputs)
    return copied
