"""In what does a further set of inputs differ from the example inputs?"""

from __future__ import annotations

from typing import Any

import torch
import torch.utils._pytree as pytree
from torch.export.graph_signature import InputKind

from reducer.core.case import Case, Check, Fill, Input, Size, TensorSpec
from reducer.core.sizes import evaluate_size, size_symbols
from reducer.lowering.data import DataStore
from reducer.lowering.errors import SubjectError


def check_of(
    case: Case, program: Any, inputs: tuple[tuple[Any, ...], dict[str, Any]], data: DataStore
) -> Check:
    """The set as a check. Raises SubjectError if the program does not take these inputs."""
    specs = [
        spec for spec in program.graph_signature.input_specs if spec.kind is InputKind.USER_INPUT
    ]
    leaves = pytree.tree_leaves(inputs)
    if len(leaves) != len(specs):
        raise _unfit(f"{len(leaves)} values instead of {len(specs)}")
    items = {item.name: item for item in case.graph.inputs}
    sizes: dict[str, int] = {}
    fills: list[tuple[str, Fill]] = []
    for spec, leaf in zip(specs, leaves, strict=True):
        item = items.get(getattr(spec.arg, "name", ""))
        if item is None or not isinstance(item.spec, TensorSpec):
            continue
        if not isinstance(leaf, torch.Tensor) or leaf.dim() != len(item.spec.shape):
            raise _unfit(f"{item.name} is {_described(leaf)}")
        for size, found in zip(item.spec.shape, leaf.shape, strict=True):
            _solve(size, int(found), item, sizes)
        fill = data.fill(leaf)
        if fill != item.fill:
            fills.append((item.name, fill))
    for symbol in case.symbols:
        size = sizes.get(symbol.name, symbol.hint)
        if size < symbol.minimum or (symbol.maximum is not None and size > symbol.maximum):
            raise _unfit(f"a size of {size} is outside {symbol.minimum} to {symbol.maximum}")
    return Check(tuple(sorted(sizes.items())), tuple(fills))


def tidy_checks(case: Case) -> tuple[Check, ...]:
    """The case's checks without those that are the example, and without repeats."""
    hints = {symbol.name: symbol.hint for symbol in case.symbols}
    telling = (
        check
        for check in case.checks
        if check.fills or any(hints[name] != size for name, size in check.sizes)
    )
    return tuple(dict.fromkeys(telling))


def _solve(size: Size, found: int, item: Input, sizes: dict[str, int]) -> None:
    """Which size of the symbol gives the size that was found?"""
    if isinstance(size, int):
        if size != found:
            raise _unfit(f"{item.name} has a size of {found} where the program takes {size}")
        return
    symbols = size_symbols(size)
    if len(symbols) != 1:
        return
    (name,) = symbols
    fits = (number for number in range(found + 2) if evaluate_size(size, {name: number}) == found)
    sizes.setdefault(name, next(fits, found))


def _described(leaf: Any) -> str:
    shown = f"{tuple(leaf.shape)} {leaf.dtype}" if isinstance(leaf, torch.Tensor) else repr(leaf)
    return shown[:80]


def _unfit(what: str) -> SubjectError:
    return SubjectError(
        f"check_inputs do not fit the exported program: {what}",
        hint="sizes that may differ from the example's must be dynamic: give dynamic_shapes",
    )
