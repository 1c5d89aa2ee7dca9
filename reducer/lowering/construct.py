"""Which call makes this object, and which object does this call make?

:func:`build` turns a :class:`~reducer.core.recipe.Construct` into the object, :func:`express` the
object into a Construct. Between the two an object of ExecuTorch is data: it can be stored, shrunk
towards its defaults, and printed as the Python that a user would have written.
"""

from __future__ import annotations

import difflib
import enum
import functools
import importlib
import inspect
import sys
from collections.abc import Iterable
from dataclasses import MISSING, fields, is_dataclass
from pathlib import PurePath
from typing import Any

import torch

from reducer.core.recipe import Construct, Items, Plain
from reducer.lowering import recorder
from reducer.lowering.errors import SubjectError, headline


class Inexpressible(Exception):
    """No call is known that makes this object; ``thing`` names it."""

    def __init__(self, thing: str) -> None:
        super().__init__(thing)
        self.thing = thing


def build(plain: Plain) -> Any:
    """The object that a Construct (or a container of them) stands for. Raises SubjectError."""
    if isinstance(plain, tuple):
        return tuple(build(item) for item in plain)
    if isinstance(plain, Items):
        return _CONTAINERS[plain.kind](build(item) for item in plain.items)
    if not isinstance(plain, Construct):
        return plain
    target = resolve(plain.path)
    if not plain.call:
        return target
    args = [build(item) for item in plain.args]
    kwargs = {name: build(item) for name, item in plain.kwargs}
    try:
        return target(*args, **kwargs)
    except Exception as error:
        raise SubjectError(
            f"{plain.path} cannot be constructed: {headline(error)}",
            hint=_signature_hint(target),
        ) from error


def resolve(path: str) -> Any:
    """What ``package.module:attribute.attribute`` names. Raises SubjectError."""
    module_name, _, attributes = path.partition(":")
    if not module_name or not attributes:
        raise SubjectError(
            f"{path!r} is not of the form package.module:attribute",
            hint="for example executorch.backends.xnnpack:XnnpackPartitioner",
        )
    found = import_module(module_name)
    for name in attributes.split("."):
        try:
            found = getattr(found, name)
        except AttributeError:
            close = difflib.get_close_matches(name, dir(found), n=3)
            raise SubjectError(
                f"{module_name} has no {attributes!r}",
                hint=f"did you mean {' or '.join(close)}?" if close else "check the spelling",
            ) from None
    return found


def import_module(name: str) -> Any:
    """The module called ``name``. Raises SubjectError that says which module is missing."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or name
        what = "" if missing == name else f", which {name} imports"
        raise SubjectError(
            f"no module named {missing!r}{what}",
            hint=f"check the spelling, or install its package for {sys.executable}",
        ) from error
    except Exception as error:
        raise SubjectError(
            f"importing {name} raises {headline(error)}",
            hint=f"try it alone: {sys.executable} -c 'import {name}'",
        ) from error


def express(value: Any) -> Plain:
    """The call that makes ``value``, or the value itself if it is plain. Raises Inexpressible."""
    if isinstance(value, enum.Enum):
        owner = importable_path(type(value))
        if value.name in type(value).__members__:
            return Construct(f"{owner}.{value.name}", call=False)
        return Construct(owner, (express(value.value),))  # a combination of flags
    if value is None or type(value) in (bool, int, float, str, bytes):
        return value
    if isinstance(value, torch.dtype | torch.layout | torch.memory_format):
        return Construct(f"torch:{str(value).removeprefix('torch.')}", call=False)
    if isinstance(value, torch.device):
        return Construct("torch:device", (str(value),))
    if (container := _express_container(value)) is not None:
        return container
    if (operator := _operator_path(value)) is not None:
        return Construct(operator, call=False)
    if isinstance(value, type) or hasattr(value, "__qualname__"):
        return Construct(importable_path(value), call=False)
    return _express_call(value)


def _express_container(value: Any) -> Plain:
    """Containers of expressible things; None if ``value`` is no container."""
    if isinstance(value, tuple):
        items = tuple(express(item) for item in value)
        if hasattr(value, "_fields"):
            return Construct(importable_path(type(value)), items)
        return items
    if isinstance(value, list):
        return Items("list", tuple(express(item) for item in value))
    if isinstance(value, dict):
        pairs = tuple((express(key), express(item)) for key, item in value.items())
        return Items("dict", pairs)
    if isinstance(value, set | frozenset):
        found = Items("set", tuple(sorted((express(item) for item in value), key=repr)))
        return found if isinstance(value, set) else Construct("builtins:frozenset", (found,))
    return None


def _express_call(value: Any) -> Construct:
    """The constructor call of an object: by its fields, or as it was recorded."""
    if isinstance(value, functools.partial):
        head, kwargs = (value.func, *value.args), value.keywords
        return Construct("functools:partial", *_express_arguments(head, kwargs))
    if isinstance(value, PurePath):
        return Construct("pathlib:Path", (str(value),))
    if type(value).__module__ == "packaging.version":
        return Construct("packaging.version:Version", (str(value),))
    if is_dataclass(value) and _made_of_fields(value):
        # Fields are what the object is now; the recorded call may be older than an assignment.
        given = {f.name: getattr(value, f.name) for f in fields(value) if f.init}
        defaults = {f.name: _default(f) for f in fields(value)}
        changed = {k: v for k, v in given.items() if not _same(v, defaults[k])}
        return Construct(importable_path(type(value)), *_express_arguments((), changed))
    if (call := recorder.call_of(value)) is not None:
        return Construct(importable_path(type(value)), *_express_arguments(*call))
    raise Inexpressible(f"a {type(value).__module__}.{type(value).__qualname__}")


def _made_of_fields(value: Any) -> bool:
    """Whether a dataclass's constructor takes its fields: one that derives from it may have its own."""
    taken = inspect.signature(type(value).__init__).parameters
    return all(item.name in taken for item in fields(value) if item.init)


def _express_arguments(
    args: Iterable[Any], kwargs: dict[str, Any]
) -> tuple[tuple[Plain, ...], tuple[tuple[str, Plain], ...]]:
    return tuple(map(express, args)), tuple((name, express(item)) for name, item in kwargs.items())


def importable_path(thing: Any) -> str:
    """``package.module:name`` from which a class or function can be imported. Raises Inexpressible.

    A private module is passed over for the outermost package that exports the same object, as a
    user would write it.
    """
    module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", "")
    if not module or "<" in name or module == "__main__" or _lookup(module, name) is not thing:
        where = f"{module}.{name}" if module else name or repr(thing)
        raise Inexpressible(f"{where}, which no other program can import")
    if any(part.startswith("_") for part in module.split(".")):
        parts = module.split(".")
        for end in range(1, len(parts)):
            parent = ".".join(parts[:end])
            if not parts[end - 1].startswith("_") and _lookup(parent, name) is thing:
                return f"{parent}:{name}"
    return f"{module}:{name}"


def _lookup(module: str, name: str) -> Any:
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _operator_path(value: Any) -> str | None:
    """Where ``torch.ops`` or the edge dialect keeps an operator; None for anything else."""
    text = (
        str(value) if isinstance(value, torch._ops.OpOverload | torch._ops.OpOverloadPacket) else ""
    )
    if text:
        return f"torch:ops.{text}"
    edge = sys.modules.get("executorch.exir.dialects.edge._ops")
    if edge is not None and isinstance(value, edge.EdgeOpOverload):
        return f"executorch.exir.dialects._ops:ops.edge.{value._op}"
    return None


def _default(item: Any) -> Any:
    return item.default if item.default_factory is MISSING else item.default_factory()


def _same(one: Any, other: Any) -> bool:
    """Whether two values are interchangeable as arguments; unsure means no."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    try:
        plain_object = getattr(type(one), "__eq__", None) is object.__eq__
        return bool(vars(one) == vars(other) if plain_object else one == other)
    except Exception:
        return False


def _signature_hint(target: Any) -> str:
    try:
        return f"its arguments are {inspect.signature(target)}"
    except (TypeError, ValueError):
        return "check its options"


_CONTAINERS: dict[str, Any] = {"list": list, "dict": dict, "set": set}
