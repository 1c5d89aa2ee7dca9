"""Which submodule of a model is at fault, and how is it made and called alone?

The model runs once with hooks that note what each submodule is called with; then the failing call is
made on children instead of the whole, downwards as long as one fails in the same way.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn

from reducer.core.signature import Failure, MatchRule, signature_of
from reducer.core.stage import Stage
from reducer.lowering import recorder
from reducer.lowering.failure import failure_from_exception

Call = tuple[tuple[Any, ...], dict[str, Any]]

#: Tensors of whole numbers up to this size are written out.
_FEW = 16


class Unwritable(Exception):
    """A value that no short expression makes."""


def failing_submodule(
    model: nn.Module, call: Call, stage: Stage, wanted: Failure
) -> tuple[str, Call] | None:
    """Path of the innermost submodule that fails like the model, and what it is called with."""
    calls = recorded_calls(model, call)
    try_one = _forward if stage is Stage.EAGER else _export
    signature, rule = signature_of(wanted), MatchRule()
    path, found = "", call
    while True:
        for name in [name for name in calls if name and _caller(name, calls) == path]:
            failure = _failure(lambda: try_one(model.get_submodule(name), calls[name]), stage)  # noqa: B023
            if failure is not None and rule.same(signature, failure):
                path, found = name, calls[name]
                break
        else:
            return (path, _by_position(model.get_submodule(path), found)) if path else None


def recorded_calls(model: nn.Module, call: Call) -> dict[str, Call]:
    """What each submodule that is called is called with first."""
    calls: dict[str, Call] = {}
    hooks = []
    for name, module in model.named_modules():

        def note(_: nn.Module, args: Any, kwargs: Any, name: str = name) -> None:
            calls.setdefault(name, (args, kwargs))

        hooks.append(module.register_forward_pre_hook(note, with_kwargs=True))
    try:
        _forward(model, call)
    except Exception:
        pass
    finally:
        for hook in hooks:
            hook.remove()
    return calls


def _by_position(module: nn.Module, call: Call) -> Call:
    """The same call with as few keywords as it can do with."""
    args, kwargs = call
    try:
        bound = inspect.signature(module.forward).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return call
    return bound.args, bound.kwargs


def _caller(name: str, calls: Mapping[str, Call]) -> str:
    """The innermost module around it that is called: lists of modules are not."""
    while name:
        name = name.rpartition(".")[0]
        if name in calls:
            break
    return name


def _failure(run: Callable[[], object], stage: Stage) -> Failure | None:
    try:
        run()
    except Exception as error:
        return failure_from_exception(error, stage)
    return None


def _forward(module: nn.Module, call: Call) -> None:
    args, kwargs = copy.deepcopy(call)
    with torch.no_grad():
        module(*args, **kwargs)


def _export(module: nn.Module, call: Call) -> None:
    torch.export.export(module, *copy.deepcopy(call))


def construction(module: nn.Module, names: Mapping[str, Any]) -> tuple[str, set[str]]:
    """The expression that makes the module anew, and the imports that it needs.

    ``names`` are those of the source that it will stand in. Raises Unwritable.
    """
    call, cls = recorder.call_of(module), type(module)
    if call is None or (mode := module.training) not in (True, False):
        raise Unwritable(cls.__name__)
    imports: set[str] = set()
    if names.get(cls.__name__) is cls:
        name = cls.__name__
    elif cls.__module__.startswith("torch.nn.") and getattr(nn, cls.__name__, None) is cls:
        name = f"torch.nn.{cls.__name__}"
        imports.add("import torch")
    elif cls.__module__ != "__main__" and "." not in cls.__qualname__ and cls.__name__ not in names:
        name = cls.__name__
        imports.add(f"from {cls.__module__} import {name}")
    else:
        raise Unwritable(cls.__qualname__)
    parts = []
    for keyword, value in [*(("", item) for item in call[0]), *call[1].items()]:
        if isinstance(value, nn.Module):
            text, more = construction(value, names)
            imports |= more
        else:
            held = [key for key, other in names.items() if other is value]
            text = held[0] if held and not isinstance(value, int | float) else written(value)
        parts.append(f"{keyword}={text}" if keyword else text)
    return f"{name}({', '.join(parts)})" + ("" if mode else ".eval()"), imports


def written(value: Any) -> str:
    """A short expression for a value; tensors get other numbers, of the same shape and dtype.

    Raises Unwritable.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    if isinstance(value, torch.dtype | torch.device):
        return f"torch.device({str(value)!r})" if isinstance(value, torch.device) else str(value)
    if isinstance(value, torch.Size | tuple) and type(value) in (tuple, torch.Size):
        items = [written(item) for item in value]
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    if type(value) is list:
        return f"[{', '.join(map(written, value))}]"
    if type(value) is dict:
        return "{" + ", ".join(f"{written(key)}: {written(value[key])}" for key in value) + "}"
    if isinstance(value, torch.Tensor) and value.layout is torch.strided:
        return _tensor(value)
    raise Unwritable(type(value).__name__)


def _tensor(value: torch.Tensor) -> str:
    shape, dtype = tuple(value.shape), value.dtype
    sizes = ", ".join(map(str, shape)) or "()"
    if dtype.is_floating_point:
        return f"torch.randn({sizes}{'' if dtype is torch.float32 else f', dtype={dtype}'})"
    if value.numel() <= _FEW and not dtype.is_complex:
        return f"torch.tensor({value.tolist()}, dtype={dtype})"
    return f"torch.zeros({sizes}, dtype={dtype})"
