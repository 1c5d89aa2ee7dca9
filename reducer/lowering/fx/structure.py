"""How are a program's outputs nested?"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._pytree import TreeSpec

from reducer.core.case import Structure


def structure_of(spec: TreeSpec | None, leaves: int) -> Structure:
    """The nesting as plain data; None for one bare value or a flat tuple of several."""
    if spec is None:
        return None
    tree = _tree(spec)
    flat = ("tuple", *["*"] * leaves)
    if tree is None or tree == ("*" if leaves == 1 else flat):
        return None
    return tree


def assemble(structure: Structure, leaves: list[Any]) -> Any:
    """Nest ``leaves`` (in order) as ``structure`` says."""
    if structure is None:
        return leaves[0] if len(leaves) == 1 else tuple(leaves)
    remaining = iter(leaves)
    return _assemble(structure, remaining)


def _tree(spec: TreeSpec) -> Structure:
    if spec.is_leaf():
        return "*"
    children = tuple(_tree(child) for child in spec.children())
    if spec.type is tuple:
        return ("tuple", *children)
    if spec.type is list:
        return ("list", *children)
    if spec.type is dict and all(isinstance(key, str) and "," not in key for key in spec.context):
        return (f"dict:{','.join(spec.context)}", *children)
    if isinstance(spec.type, type) and issubclass(spec.type, tuple):
        return (_named(spec), *children)
    # A class of the user's own: flat is the nearest plain form.
    return ("tuple", *children)


def _named(spec: TreeSpec) -> str:
    cls = spec.context if isinstance(spec.context, type) else spec.type
    assert isinstance(cls, type)
    if cls.__module__.startswith("torch"):
        return f"named:{cls.__module__}.{cls.__qualname__}"
    return "tuple"


def _assemble(structure: Structure, leaves: Any) -> Any:
    if not isinstance(structure, tuple):
        return next(leaves)
    kind, *children = structure
    values = [_assemble(child, leaves) for child in children]
    kind = str(kind)
    if kind == "list":
        return values
    if kind.startswith("dict:"):
        return dict(zip(kind[5:].split(","), values, strict=True))
    if kind.startswith("named:"):
        cls: Any = torch
        for part in kind[6:].split(".")[1:]:
            cls = getattr(cls, part)
        return cls(values) if cls.__module__ == "torch.return_types" else cls(*values)
    return tuple(values)
