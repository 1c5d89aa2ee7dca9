"""How large is a symbolic size? Expressions in symbols, as sympy prints them."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from reducer.core.case import Size

_OPERATORS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "Max": max,
    "Min": min,
    "Mod": operator.mod,
    "PythonMod": operator.mod,
    "FloorDiv": operator.floordiv,
    "CleanDiv": operator.floordiv,
    "floor": int,
}


def evaluate_size(size: Size, known: Mapping[str, int]) -> Size:
    """The number if ``known`` has all symbols, else the size as it is. Nothing is executed.

    >>> evaluate_size("2*s0 + 1", {"s0": 3}), evaluate_size("s1", {"s0": 3})
    (7, 's1')
    """
    if isinstance(size, int):
        return size
    try:
        return int(apply_size(size, known))
    except ValueError:
        return size


def apply_size(expression: str, known: Mapping[str, Any]) -> Any:
    """The expression's value over anything that has arithmetic (numbers, ``torch.export.Dim``).

    Raises ValueError for what is not a size, and for symbols that ``known`` lacks.
    """
    try:
        return _value(ast.parse(expression, mode="eval").body, known)
    except (KeyError, SyntaxError, ZeroDivisionError, TypeError, NotImplementedError) as error:
        raise ValueError(f"{expression!r} cannot be evaluated: {error}") from error


def size_symbols(size: Size) -> set[str]:
    """Names of the symbols in a size.

    >>> sorted(size_symbols("Max(1, 2*s0 + s1)"))
    ['s0', 's1']
    """
    if isinstance(size, int):
        return set()
    names = {n.id for n in ast.walk(ast.parse(size, mode="eval")) if isinstance(n, ast.Name)}
    return names - set(_FUNCTIONS)


def _value(node: ast.AST, known: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.Name):
        return known[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, known)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value(node.left, known), _value(node.right, known))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return _FUNCTIONS[node.func.id](*(_value(argument, known) for argument in node.args))
    raise SyntaxError(f"not a size: {ast.dump(node)}")
