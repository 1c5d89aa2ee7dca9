"""Which pass is this: its class, where its code is, what it was constructed from?"""

from __future__ import annotations

import inspect
import types
from dataclasses import dataclass
from typing import Any

import torch
from torch.export import ExportedProgram

from reducer.core.recipe import THE_PROGRAM, Construct, Plain
from reducer.lowering import recorder
from reducer.lowering.construct import Inexpressible, express, importable_path


@dataclass(frozen=True)
class Identity:
    """Name and module of the pass, ``module:name`` of its code, its constructor's arguments."""

    name: str
    module: str
    function: str
    arguments: tuple[str, ...] = ()
    construct: Construct | None = None


def of_pass(thing: Any, code: Any) -> Identity:
    """Of an object (or function) that is a pass; ``code`` is the function that does the work."""
    thing = inspect.unwrap(thing) if isinstance(thing, types.FunctionType) else thing
    if isinstance(thing, types.FunctionType | types.MethodType):
        return Identity(thing.__name__, thing.__module__, place_of(thing), (), _path(thing))
    cls = type(thing)
    arguments, construct = _constructed(thing)
    return Identity(cls.__name__, cls.__module__, place_of(code), arguments, construct)


def of_step(thing: Any, code: Any) -> Identity:
    """Of a program's decomposition, or its verifier: neither can be run alone on a graph."""
    if isinstance(thing, ExportedProgram):
        return Identity(code.__name__, code.__module__, place_of(code))
    cls = type(thing)
    name = cls.__name__.lstrip("_")  # that of the function which makes the class
    return Identity(name, cls.__module__, f"{cls.__module__}:{name}.check_additional")


def of_retrace(thing: Any, base: type, owner: type) -> Identity:
    """Of the retrace that a pass inherits.

    ``owner`` defines it, ``base`` is the public class by whose name it is known. A pass that
    overrides what the retrace calls back is itself what runs.
    """
    code = vars(owner)["call"]
    hooks = {name for cls in base.__mro__ if cls is not object for name in vars(cls)}
    hooks -= {"call", "requires", "ensures"}
    own = [cls for cls in type(thing).__mro__ if not issubclass(base, cls)]
    if any(name in hooks and not name.startswith("_") for cls in own for name in vars(cls)):
        return of_pass(thing, code)
    path = f"{base.__module__}:{base.__qualname__}"
    return Identity(base.__name__, base.__module__, place_of(code), (), Construct(path))


def place_of(code: Any) -> str:
    """``module:qualified.name`` of a function."""
    code = inspect.unwrap(code) if callable(code) else code
    module = getattr(code, "__module__", "") or type(code).__module__
    return f"{module}:{getattr(code, '__qualname__', type(code).__qualname__)}"


def _path(function: Any) -> Construct | None:
    try:
        return Construct(importable_path(function), call=False)
    except Inexpressible:
        return None


def _constructed(thing: Any) -> tuple[tuple[str, ...], Construct | None]:
    call = recorder.call_of(thing)
    if call is None:  # made before anyone looked
        return (), _without_arguments(type(thing))
    args, kwargs = call
    shown = (*map(_shown, args), *(f"{name}={_shown(value)}" for name, value in kwargs.items()))
    try:
        if any(isinstance(value, ExportedProgram) for value in (*args, *kwargs.values())):
            return shown, _around_program(type(thing), args, kwargs)
        found = express(thing)
    except Inexpressible:
        return shown, None
    return shown, found if isinstance(found, Construct) else None


def _without_arguments(cls: type) -> Construct | None:
    """The only call that a constructor without parameters takes."""
    try:
        takes = inspect.signature(cls).parameters
        return None if takes else Construct(importable_path(cls))
    except (Inexpressible, ValueError, TypeError):
        return None


def _around_program(cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Construct:
    """The call of a constructor that is given the program whose graph the pass is run on."""

    def argument(value: Any) -> Plain:
        return THE_PROGRAM if isinstance(value, ExportedProgram) else express(value)

    named = tuple((name, argument(value)) for name, value in kwargs.items())
    return Construct(importable_path(cls), tuple(map(argument, args)), named)


def _shown(value: Any) -> str:
    """A constructor argument, short: large objects by their type."""
    if value is None or isinstance(value, bool | int | float | torch.dtype):
        return str(value)
    if isinstance(value, str) and len(value) <= 60:
        return repr(value)
    return type(value).__name__
