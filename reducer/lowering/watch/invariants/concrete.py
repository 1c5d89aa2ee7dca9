"""What do symbolic sizes stand for, so that a graph can be run without asking anything of its symbols?

A comparison of symbolic sizes may leave a guard in the shape environment that the passes share. So
checks work on the numbers that the symbols had in the example inputs.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils import _pytree as pytree


class Unknown(Exception):
    """A size depends on data, so there is no number that it stands for."""


def number(value: Any) -> Any:
    """The number that a symbolic scalar stands for; other values as they are. Raises Unknown."""
    if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
        hint = value.node.hint if value.node._hint is not None else None
        if hint is None:
            raise Unknown
        return hint if isinstance(hint, int | float | bool) else int(hint)
    return value


def sizes(tensor: torch.Tensor) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shape and strides in numbers. Raises Unknown."""
    shape = tuple(number(size) for size in tensor.shape)
    return shape, tuple(number(step) for step in tensor.stride())


def leaves(value: Any) -> list[Any]:
    """The values in lists and tuples, in order."""
    return pytree.tree_leaves(value)
