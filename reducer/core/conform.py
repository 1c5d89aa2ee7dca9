"""Does a value have the shape that its dataclass declares? For records that a stranger wrote.

:func:`reducer.core.text.decode` makes any record of a known class; whether its fields hold what their
annotations say is asked here, all the way down.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, ForwardRef, Union, cast, get_args, get_origin, get_type_hints


def misfit(record: Any) -> str:
    """Where a record does not fit its class, as ``Class.field``; "" if all of it fits.

    >>> from reducer.core.case import Input, TensorSpec
    >>> misfit(Input("x", "input", TensorSpec((2, "s0"), "float32")))
    ''
    >>> misfit(Input("x", "input", TensorSpec(("no tuple"), "float32")))
    'TensorSpec.shape'
    """
    for name, hint in _hints(cast(Hashable, type(record))).items():
        value = getattr(record, name)
        if not _fits(value, hint, type(record)):
            inner = misfit(value) if is_dataclass(value) else ""
            return inner or _within(value) or f"{type(record).__name__}.{name}"
    return ""


def _within(value: Any) -> str:
    """The first misfit among the records of a tuple, however deep."""
    if is_dataclass(value):
        return misfit(value)
    return next(filter(None, map(_within, value)), "") if isinstance(value, tuple) else ""


@cache
def _hints(cls: Hashable) -> dict[str, Any]:
    known = get_type_hints(cls)
    return {item.name: known[item.name] for item in fields(cls)}  # type: ignore[arg-type]


def _fits(value: Any, hint: Any, owner: type) -> bool:
    if isinstance(hint, str | ForwardRef):  # a type that is made of itself
        text = hint if isinstance(hint, str) else hint.__forward_arg__
        return _fits(value, _named(text, owner), owner)
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, part, owner) for part in parts)
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        if len(parts) == 2 and parts[1] is Ellipsis:
            return all(_fits(item, parts[0], owner) for item in value)
        return len(value) == len(parts) and all(
            _fits(item, part, owner) for item, part in zip(value, parts, strict=True)
        )
    if origin is not None and issubclass(origin, Mapping):
        return isinstance(value, Mapping) and all(
            _fits(key, parts[0], owner) and _fits(item, parts[1], owner)
            for key, item in value.items()
        )
    if hint is None or hint is type(None):
        return value is None
    if is_dataclass(hint):
        return type(value) is hint and not misfit(value)
    if hint is float:  # what is whole may be written as such
        return isinstance(value, float | int) and not isinstance(value, bool)
    return isinstance(value, hint) and (hint is not int or not isinstance(value, bool))


@cache
def _named(text: str, owner: type) -> Any:
    return eval(text, vars(sys.modules[owner.__module__]))  # an annotation of our own source
