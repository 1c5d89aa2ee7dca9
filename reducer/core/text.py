"""How are the nouns written down? Exactly, both ways, as JSON.

Every frozen dataclass of ``core`` becomes ``{"_": "ClassName", field: value, ...}`` with fields at
their defaults left out; tuples become lists. What JSON cannot say (bytes, complex, nan, inf, maps)
gets a tag of its own. Text made by one version of Python, torch or reducer is read by another:
nothing here is a pickle.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import MISSING, fields
from enum import Enum
from typing import Any, TypeVar, cast

from reducer.core.case import (
    Atom,
    Case,
    Check,
    Fill,
    Graph,
    GraphRef,
    Input,
    Node,
    Ref,
    ScalarSpec,
    Symbol,
    TensorSpec,
)
from reducer.core.errors import BadInput
from reducer.core.kind import Kind
from reducer.core.property import Property
from reducer.core.recipe import Construct, Items, PassCall, Recipe
from reducer.core.signature import ChainLink, Failure, Frame, Signature
from reducer.core.stage import Stage
from reducer.core.verdict import Verdict

_CLASSES: dict[str, type[Any]] = {
    cls.__name__: cls
    for cls in (
        Atom, Case, ChainLink, Check, Construct, Failure, Fill, Frame, Graph, GraphRef, Input, Items,
        Node, PassCall, Property, Recipe, Ref, ScalarSpec, Signature, Symbol, TensorSpec,
    )
}  # fmt: skip
_PLAIN = frozenset({str, int, bool, type(None)})


def _defaults(cls: type[Any]) -> tuple[tuple[str, Any, bool], ...]:
    """Per field of a dataclass its name, its default (MISSING: none), and whether its type counts."""
    return tuple(
        (item.name, item.default, True)
        if item.default_factory is MISSING
        else (item.name, item.default_factory(), False)
        for item in fields(cls)
    )


#: Looked up once, since every case that is compared is written down: a run asks a million times.
_FIELDS = {cls: _defaults(cls) for cls in _CLASSES.values()}
_ENUMS: dict[str, type[Any]] = {"Kind": Kind, "Stage": Stage, "Verdict": Verdict}

T = TypeVar("T")


def register(cls: type[T]) -> type[T]:
    """Class decorator: let a frozen dataclass or an enum of a higher layer be written down as well.

    Raises TypeError if another class is written down under that name.
    """
    table = _ENUMS if issubclass(cls, Enum) else _CLASSES
    known = table.setdefault(cls.__name__, cls)
    if known.__module__ != cls.__module__:
        raise TypeError(f"{known.__module__} and {cls.__module__} both name a noun {cls.__name__}")
    table[cls.__name__] = cls
    if table is _CLASSES:
        _FIELDS.pop(known, None)
        _FIELDS[cls] = _defaults(cls)
    return cls


#: Made once: making one for each text takes longer than most texts.
_JSON = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


def encode(value: Any) -> Any:
    """The value as what ``json.dumps`` takes. Raises TypeError for anything that is not a noun."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if isinstance(value, tuple | list):
        return [encode(item) for item in value]
    if kind in _FIELDS:
        record: dict[str, Any] = {"_": kind.__name__}
        for name, default, strictly in _FIELDS[kind]:
            content = getattr(value, name)
            if content is default:
                continue
            # 1 == True and 1 == 1.0 in Python, but they are not the same argument of an operator.
            if (strictly and type(content) is not type(default)) or content != default:
                record[name] = encode(content)
        return record
    if _ENUMS.get(kind.__name__) is kind:
        return {"_": kind.__name__, "v": value.value}
    if isinstance(value, float):
        return value if math.isfinite(value) else {"_": "float", "v": repr(value)}
    if isinstance(value, complex):
        return {"_": "complex", "v": [encode(value.real), encode(value.imag)]}
    if isinstance(value, bytes):
        return {"_": "bytes", "v": base64.b64encode(value).decode("ascii")}
    if isinstance(value, Mapping):
        return {"_": "map", "v": {str(key): encode(item) for key, item in value.items()}}
    if isinstance(value, int | str):  # of a subclass: torch has some
        return value
    raise TypeError(f"{kind.__qualname__} has no text form")


def decode(data: Any) -> Any:
    """The inverse of :func:`encode`; lists come back as tuples. Raises BadInput on other text."""
    if isinstance(data, list):
        return tuple(decode(item) for item in data)
    if not isinstance(data, dict):
        return data
    tag = data.get("_")
    try:
        if tag == "float":
            return float(data["v"])
        if tag == "complex":
            return complex(decode(data["v"][0]), decode(data["v"][1]))
        if tag == "bytes":
            return base64.b64decode(data["v"])
        if tag == "map":
            return {key: decode(item) for key, item in data["v"].items()}
        if tag in _ENUMS:
            return _ENUMS[tag](data["v"])
        cls = _CLASSES[cast(str, tag)]
        return cls(**{key: decode(item) for key, item in data.items() if key != "_"})
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise BadInput(
            f"text of a {tag or 'record without a type'} cannot be read: {error}",
            hint="was it written by another version of reducer, or edited by hand?",
        ) from error


def dumps(value: Any) -> str:
    """One line of JSON; equal values give equal text."""
    return _JSON.encode(encode(value))


def loads(text: str | bytes) -> Any:
    """Read what :func:`dumps` wrote. Raises BadInput."""
    try:
        return decode(json.loads(text))
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"not JSON: {error}") from error


def digest(value: Any) -> str:
    """SHA-256 of the value's text, in hexadecimal."""
    return hashlib.sha256(dumps(value).encode()).hexdigest()
