"""Which exported program does a declared model give, and if none, at which stage does it fail?"""

from __future__ import annotations

import copy
import inspect
from typing import Any

import torch
from torch.export import ExportedProgram

from reducer.core.stage import Stage
from reducer.lowering.declared import Declared
from reducer.lowering.errors import SubjectError, headline
from reducer.lowering.pipeline import StageClock


class NotExported(Exception):
    """The model failed before there was a graph: at ``stage``, with ``error``."""

    def __init__(self, stage: Stage, error: Exception) -> None:
        super().__init__(f"{stage}: {error}")
        self.stage = stage
        self.error = error


def export_model(declared: Declared, clock: StageClock) -> ExportedProgram:
    """Export, quantizing (PT2E, calibrated on the example inputs) if a quantizer is declared.

    Raises NotExported, or SubjectError if ``dynamic_shapes`` do not belong to these inputs.
    """
    with clock.at(Stage.EXPORT):
        program = _export(declared.model, declared)
    if declared.quantizer is None:
        return program
    with clock.at(Stage.QUANTIZE):
        try:
            converted = _quantized(program, declared)
        except Exception as error:
            raise NotExported(Stage.QUANTIZE, error) from error
    with clock.at(Stage.EXPORT):
        return _export(converted, declared)


def _export(model: torch.nn.Module, declared: Declared) -> ExportedProgram:
    try:
        return torch.export.export(
            model, declared.args, declared.kwargs, dynamic_shapes=declared.dynamic_shapes
        )
    except Exception as raised:
        error = raised  # what is tried next must not be raised "while handling" this
    if declared.dynamic_shapes is not None and _is_invalid_input(error):
        raise SubjectError(
            f"dynamic_shapes do not fit example_inputs: {headline(error)}",
            hint="give one entry per argument of forward, as torch.export.export takes them",
        ) from error
    if wrong := _does_not_fit(model, declared):
        raise SubjectError(
            f"example_inputs do not fit the model's forward: {wrong}",
            hint=f"it takes {inspect.signature(model.forward)}",
        )
    # Only now, since it costs a run: does the model take these inputs at all?
    eager = _eager_error(model, declared)
    if eager is not None:
        raise NotExported(Stage.EAGER, eager)
    raise NotExported(Stage.EXPORT, error)


def _does_not_fit(model: torch.nn.Module, declared: Declared) -> str:
    """Why the model cannot even be called with these arguments, or ""."""
    try:
        inspect.signature(model.forward).bind(*declared.args, **declared.kwargs)
    except (TypeError, ValueError) as error:
        return str(error)
    return ""


def _is_invalid_input(error: Exception) -> bool:
    from torch._dynamo.exc import UserError, UserErrorType

    return isinstance(error, UserError) and error.error_type is UserErrorType.INVALID_INPUT


def _eager_error(model: torch.nn.Module, declared: Declared) -> Exception | None:
    try:
        with torch.no_grad():
            model(*copy.deepcopy(declared.args), **copy.deepcopy(declared.kwargs))
    except Exception as error:
        return error
    return None


def _quantized(program: ExportedProgram, declared: Declared) -> torch.nn.Module:
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    prepared: Any = prepare_pt2e(program.module(), declared.quantizer)
    prepared(*declared.args, **declared.kwargs)
    converted: torch.nn.Module = convert_pt2e(prepared)
    return converted
