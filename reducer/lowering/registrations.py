"""Which statements of a Python file register operators, and what do these need?

A slice of the file: the statements that name the operators' namespace in a string, those that add to what
they made (a fake implementation, a kernel), and what either reads. The model and its inputs are left out.
"""

from __future__ import annotations

import ast
from collections.abc import Collection


def registering_source(source: str, namespaces: Collection[str]) -> str:
    """The top-level statements that register operators of the namespaces, in order; "" if none do.

    Raises SyntaxError.
    """
    statements = ast.parse(source).body
    kept = {place for place, one in enumerate(statements) if _names(one, namespaces)}
    if not kept:
        return ""
    made = {name for place in kept for name in _bound(statements[place])}
    kept |= {place for place, one in enumerate(statements) if _adds_to(one, made)}
    pending = sorted(kept)
    while pending:
        read = _read(statements[pending.pop()])
        needed = {place for place, one in enumerate(statements) if read & _bound(one)} - kept
        kept |= needed
        pending += sorted(needed)
    lines = source.splitlines()
    parts: list[str] = []
    last = 0
    for place in sorted(kept):
        first, end = _lines(statements[place])
        if first > last + 1 and parts:
            parts += [""] * min(2, sum(not line.strip() for line in lines[last : first - 1]))
        parts += lines[max(first, last + 1) - 1 : end]
        last = end
    return "\n".join(parts) + "\n"


def _names(statement: ast.stmt, namespaces: Collection[str]) -> bool:
    """Whether it defines something of a namespace: ``custom_op("ns::f")``, ``Library("ns", "DEF")``."""
    if isinstance(statement, ast.ClassDef):
        return False
    outside = statement.decorator_list if isinstance(statement, _FUNCTIONS) else [statement]
    texts = [
        node.value
        for part in outside
        for node in ast.walk(part)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    return any(text.partition("::")[0] in namespaces for text in texts)


def _adds_to(statement: ast.stmt, made: Collection[str]) -> bool:
    """Whether it calls something on what was made: ``@f.register_fake``, ``lib.impl("f", kernel)``."""
    if isinstance(statement, _FUNCTIONS):
        return any(_read(decorator) & set(made) for decorator in statement.decorator_list)
    call = statement.value if isinstance(statement, ast.Expr) else None
    is_method = isinstance(call, ast.Call) and not isinstance(call.func, ast.Name)
    return is_method and bool(_read(statement) & set(made))


def _bound(statement: ast.stmt) -> set[str]:
    """Names that a top-level statement gives a value to."""
    if isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
        return {statement.name}
    found = set()
    for node in ast.walk(statement):
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).partition(".")[0])
    return found


def _read(part: ast.AST) -> set[str]:
    """Names that it reads, at any depth: more than it needs is harmless, less is not."""
    return {
        node.id
        for node in ast.walk(part)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }


def _lines(statement: ast.stmt) -> tuple[int, int]:
    """First and last line, decorators included, from 1."""
    decorators = getattr(statement, "decorator_list", [])
    first = min([statement.lineno, *(item.lineno for item in decorators)])
    return first, statement.end_lineno or statement.lineno


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
