"""What is a symbolic size worth, and how is it said to ``torch.export``?"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from reducer.core.case import Case, Input, ScalarSpec, Size, Symbol, TensorSpec
from reducer.core.sizes import evaluate_size
from reducer.emit.names import Names


def evaluate(size: Size, hints: Mapping[str, int]) -> int:
    """The size with symbols at their hints; an expression that cannot be read counts as 2.

    >>> evaluate("2*s0 + 1", {"s0": 3}), evaluate(4, {}), evaluate("Max(1, s0)", {"s0": 3})
    (7, 4, 3)
    """
    found = evaluate_size(size, hints)
    return found if isinstance(found, int) else 2


def hints_of(case: Case) -> dict[str, int]:
    """Symbols with their sizes in the example inputs."""
    return {symbol.name: symbol.hint for symbol in case.symbols}


def dynamic_shapes(case: Case, inputs: Mapping[str, str], names: Names) -> list[str]:
    """Lines that define the ``Dim`` objects and ``dynamic_shapes``; none for static inputs.

    ``inputs`` gives the parameter of ``forward`` for each input of the case.
    """
    symbols = {symbol.name: symbol for symbol in case.symbols}
    variables: dict[str, str] = {}
    entries = []
    for item in case.graph.inputs:
        if item.role == "input":
            entries.append(f'"{inputs[item.name]}": {_entry(item, symbols, variables, names)}')
    if all(entry.endswith(": None") for entry in entries):
        return []
    lines = [
        f"{variable} = {_dim(symbols[name], variable)}" for name, variable in variables.items()
    ]
    return [*lines, f"dynamic_shapes = {{{', '.join(entries)}}}"]


def _entry(
    item: Input, symbols: Mapping[str, Symbol], variables: dict[str, str], names: Names
) -> str:
    if isinstance(item.spec, ScalarSpec):
        symbolic = item.spec.symbol is not None and not item.spec.symbol.lstrip("-").isdigit()
        return "Dim.DYNAMIC" if symbolic else "None"
    if not isinstance(item.spec, TensorSpec):
        return "None"
    dims = []
    for position, size in enumerate(item.spec.shape):
        if isinstance(size, str):
            text = _size(size, symbols, variables, names)
            dims.append(f"{position}: {text}")
    return f"{{{', '.join(dims)}}}" if dims else "None"


def _size(size: str, symbols: Mapping[str, Symbol], variables: dict[str, str], names: Names) -> str:
    """``Dim`` objects take ``k*dim + c`` with one symbol; whatever else is left to export."""
    tree = ast.parse(size, mode="eval").body
    found = sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)})
    name = found[0] if len(found) == 1 else ""
    if name not in symbols or symbols[name].auto or not _linear(tree):
        return "Dim.AUTO"
    if name not in variables:
        variables[name] = names.take(f"s{len(variables)}")
    renamed = re.sub(rf"\b{name}\b", variables[name], size)
    return ast.unparse(ast.parse(renamed, mode="eval"))


def _linear(tree: ast.AST) -> bool:
    if isinstance(tree, ast.Name):
        return True
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Add | ast.Sub | ast.Mult):
        sides = [side for side in (tree.left, tree.right) if not isinstance(side, ast.Constant)]
        return len(sides) == 1 and _linear(sides[0])
    return False


def _dim(symbol: Symbol, name: str) -> str:
    low = f", min={symbol.minimum}" if symbol.minimum > 0 else ""
    high = f", max={symbol.maximum}" if symbol.maximum is not None else ""
    return f'Dim("{name}"{low}{high})'
