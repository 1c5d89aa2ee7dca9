"""What does a model file declare? Its ``model`` and ``example_inputs``, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from reducer.lowering.errors import SubjectError
from reducer.lowering.script import raised

EXAMPLE = """\
    import torch
    model = torch.nn.Linear(4, 4).eval()
    example_inputs = (torch.randn(1, 4),)"""


@dataclass(frozen=True)
class Declared:
    """A model with its example inputs, and how its author wants it exported and lowered."""

    model: nn.Module
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    dynamic_shapes: Any = None
    quantizer: Any = None
    partitioners: list[Any] | None = None
    compile_config: Any = None
    check_inputs: tuple[tuple[tuple[Any, ...], dict[str, Any]], ...] = ()


def declares(names: Mapping[str, Any]) -> bool:
    """Whether a module's names are those of a model file, be it an incomplete one."""
    return any(name in names for name in ("model", "get_model"))


def read(names: Mapping[str, Any], where: str) -> Declared:
    """The model that ``names`` (a module's, or an object's attributes) declare.

    Raises SubjectError for whatever is missing or of the wrong type; ``where`` is named in it.
    """
    model = _model(_value(names, "model", where), where)
    args, kwargs = _inputs(_value(names, "example_inputs", where), where)
    return Declared(
        model,
        args,
        kwargs,
        _dynamic_shapes(names.get("dynamic_shapes"), where),
        _quantizer(names.get("quantizer"), where),
        _partitioners(names.get("partitioner"), where),
        _compile_config(names.get("compile_config"), where),
        _check_inputs(names.get("check_inputs"), where),
    )


def _value(names: Mapping[str, Any], name: str, where: str) -> Any:
    """The value called ``name``, else what ``get_name()`` returns."""
    if name in names:
        return names[name]
    function = names.get(f"get_{name}")
    if function is None:
        other = "example_inputs" if name == "model" else "model"
        raise SubjectError(
            f"{where} defines {other} but no {name}",
            hint=f"define {name} (or a function get_{name}()) beside it, for example:\n{EXAMPLE}",
        )
    if not callable(function):
        raise SubjectError(f"get_{name} in {where} is a {_kind(function)}, not a function")
    try:
        return function()
    except Exception as error:
        raise raised(error, f"get_{name}() of {where}") from error


def _model(model: Any, where: str) -> nn.Module:
    if isinstance(model, nn.Module):
        return model
    if isinstance(model, type) and issubclass(model, nn.Module):
        raise SubjectError(
            f"model in {where} is the class {model.__name__}, not an instance",
            hint=f"write model = {model.__name__}(...)",
        )
    if callable(model):
        hint = "wrap it: class Wrapped(torch.nn.Module) with a forward that calls it"
    else:
        hint = f"for example:\n{EXAMPLE}"
    raise SubjectError(f"model in {where} is a {_kind(model)}, not a torch.nn.Module", hint=hint)


def _inputs(inputs: Any, where: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if isinstance(inputs, torch.Tensor):
        return (inputs,), {}
    if isinstance(inputs, tuple | list):
        return tuple(inputs), {}
    if isinstance(inputs, Mapping) and all(isinstance(key, str) for key in inputs):
        return (), dict(inputs)
    raise SubjectError(
        f"example_inputs in {where} is a {_kind(inputs)}",
        hint="give a tuple of arguments, or a dict of keyword arguments:\n" + EXAMPLE,
    )


def _check_inputs(sets: Any, where: str) -> tuple[tuple[tuple[Any, ...], dict[str, Any]], ...]:
    """Further inputs to run the ``.pte`` on: one set, or a list of sets."""
    if sets is None:
        return ()
    if isinstance(sets, torch.Tensor | Mapping):
        sets = [sets]
    if not isinstance(sets, tuple | list):
        raise SubjectError(
            f"check_inputs in {where} is a {_kind(sets)}",
            hint="give a list of sets, each like example_inputs: check_inputs = [(x,), (y,)]",
        )
    if isinstance(sets, tuple) and not any(isinstance(s, tuple | list | Mapping) for s in sets):
        sets = [sets]
    return tuple(_inputs(one, where) for one in sets)


def _dynamic_shapes(shapes: Any, where: str) -> Any:
    if shapes is None or isinstance(shapes, Mapping | tuple | list):
        return shapes
    if isinstance(shapes, torch.export.ShapesCollection):
        return shapes
    raise SubjectError(
        f"dynamic_shapes in {where} is a {_kind(shapes)}",
        hint='as torch.export.export takes them, e.g. {"x": {0: torch.export.Dim("batch")}}',
    )


def _quantizer(quantizer: Any, where: str) -> Any:
    if quantizer is None or (hasattr(quantizer, "annotate") and not isinstance(quantizer, type)):
        return quantizer
    raise SubjectError(
        f"quantizer in {where} is {_described(quantizer)}, not a PT2E quantizer",
        hint="for example XNNPACKQuantizer().set_global(get_symmetric_quantization_config())",
    )


def _partitioners(partitioner: Any, where: str) -> list[Any] | None:
    if partitioner is None:
        return None
    found = list(partitioner) if isinstance(partitioner, tuple | list) else [partitioner]
    for item in found:
        if isinstance(item, type) or not hasattr(item, "partition"):
            raise SubjectError(
                f"partitioner in {where} is {_described(item)}, not a partitioner",
                hint="give an instance, or a list of them: partitioner = XnnpackPartitioner()",
            )
    return found


def _compile_config(config: Any, where: str) -> Any:
    from executorch.exir import EdgeCompileConfig

    if config is None or isinstance(config, EdgeCompileConfig):
        return config
    raise SubjectError(
        f"compile_config in {where} is {_described(config)}, not an EdgeCompileConfig",
        hint="for example compile_config = EdgeCompileConfig(_check_ir_validity=False)",
    )


def _kind(value: Any) -> str:
    return type(value).__name__


def _described(value: Any) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else f"a {_kind(value)}"
