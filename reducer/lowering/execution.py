"""Does the ``.pte`` load, run and give the right numbers here? Asked when lowering itself passes.

Only what the runtime in the wheel can run: programs whose delegates it has registered. Failures in
these stages are recognised, not reduced yet.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

import torch
from torch.export import ExportedProgram

from reducer.core.stage import Stage
from reducer.lowering.pipeline import StageClock

#: Largest difference that counts as rounding: absolute, and as a share of the largest number
#: expected. Coarse on purpose: sound quantised programs differ by under one percent.
_ABSOLUTE, _RELATIVE = 1e-3, 0.03


class WrongNumbers(AssertionError):
    """The ``.pte`` runs and returns something else than the exported program."""


def run(manager: Any, program: ExportedProgram, clock: StageClock) -> str:
    """Run the lowered program on its example inputs and compare. Raises what goes wrong.

    Returns why it could not be asked, or "".
    """
    from executorch.runtime import Runtime

    if program.example_inputs is None:
        return "there are no example inputs"
    runtime = Runtime.get()
    missing = _delegates(manager) - set(runtime.backend_registry.registered_backend_names)
    if missing:
        return f"no runtime here for {', '.join(sorted(missing))}"
    leaves = torch.utils._pytree.tree_leaves(_inputs(program))
    with clock.at(Stage.LOAD_PTE):
        method = runtime.load_program(manager.buffer).load_method("forward")
    with clock.at(Stage.EXECUTE):
        outputs = method.execute(leaves)
    with clock.at(Stage.COMPARE):
        expected = _expected(program)
        if expected is None:
            return "the program gives other numbers each time"
        signature = manager.exported_program().graph_signature  # functional: it tells what changes
        if _forgotten(program, signature.buffers_to_mutate.values()):
            return "it keeps no initial numbers of buffers that the model changes"
        # inputs that are written to are returned as well, before all else
        _compare(expected, list(outputs)[len(signature.user_inputs_to_mutate) :])
    return ""


def _delegates(manager: Any) -> set[str]:
    plans = manager.executorch_program.execution_plan
    return {delegate.id for plan in plans for delegate in plan.delegates}


def _expected(program: ExportedProgram) -> list[Any] | None:
    """What the exported program returns; None if that is not the same twice."""
    first, second = (_call(program) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        if isinstance(one, torch.Tensor) and not torch.equal(one.nan_to_num(), other.nan_to_num()):
            return None
    return first


def _forgotten(program: ExportedProgram, changed: Iterable[str]) -> bool:
    """Whether one of the buffers that are written to does not start as zeros.

    Such a buffer is only its shape and dtype in a ``.pte``.
    """
    state = {**program.constants, **program.state_dict}
    return any(name in state and bool(state[name].any()) for name in changed)


def _inputs(program: ExportedProgram) -> Any:
    """Copies of the example inputs: a program may write to what it is given."""
    return torch.utils._pytree.tree_map(
        lambda leaf: leaf.clone() if isinstance(leaf, torch.Tensor) else leaf,
        program.example_inputs,
    )


def _call(program: ExportedProgram) -> list[Any]:
    args, kwargs = _inputs(program)
    module = copy.deepcopy(program.module())  # which shares its buffers with the program
    with torch.no_grad():
        result = module(*args, **kwargs)
    return [leaf for leaf in torch.utils._pytree.tree_leaves(result) if leaf is not None]


def _compare(expected: list[Any], outputs: list[Any]) -> None:
    if len(expected) != len(outputs):
        raise WrongNumbers(f"{len(outputs)} outputs instead of {len(expected)}")
    for place, (want, got) in enumerate(zip(expected, outputs, strict=True)):
        if not isinstance(want, torch.Tensor) or not isinstance(got, torch.Tensor):
            continue
        if want.shape != got.shape or want.dtype != got.dtype:
            raise WrongNumbers(
                f"output {place} is {tuple(got.shape)} {got.dtype}"
                f" instead of {tuple(want.shape)} {want.dtype}"
            )
        if want.numel() == 0:
            continue
        want64, got64 = want.to(torch.float64), got.to(torch.float64)
        if not torch.equal(want64.isfinite(), got64.isfinite()):
            raise WrongNumbers(f"output {place} has nan or inf in other places")
        finite = want64.isfinite()
        difference = (want64 - got64)[finite].abs().max().item() if finite.any() else 0.0
        scale = want64[finite].abs().max().item() if finite.any() else 0.0
        if difference > _ABSOLUTE + _RELATIVE * scale:
            raise WrongNumbers(
                f"output {place} differs by {difference:.3g} where it is {scale:.3g}"
            )
