"""Put what is in a block of a source in place of the block: loops, conditions, contexts, decorators.

And what is in a function in place of its call, if it takes nothing and nothing is made of what it returns;
a call whose result is given a name in place of both.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from dataclasses import replace

from reducer.core.case import Case
from reducer.core.delta import Edit
from reducer.core.python_source import Change, keyed, shown, with_replaced, without_unused

NAME = "source-blocks"
TOGETHER = False

_BLOCKS = (ast.If, ast.For, ast.While, ast.With, ast.Try)


def edits(case: Case) -> Sequence[Edit]:
    """For each block: its body, then its other branch; for each definition: without decorators."""
    found = []
    functions = _functions(case.source)
    for key, (_, node) in keyed(case.source).items() if case.source else ():
        if isinstance(node, _BLOCKS):
            found.append(Edit(NAME, shown(key), (key, "body"), "its body instead"))
            if getattr(node, "orelse", []):
                found.append(Edit(NAME, shown(key), (key, "orelse"), "its other branch instead"))
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            found.append(Edit(NAME, shown(key), (key, "value"), "the call alone"))
        elif (name := _called(node)) and name in functions:
            found.append(Edit(NAME, shown(key), (key, "call"), "what the function does instead"))
        elif getattr(node, "decorator_list", []):
            found.append(Edit(NAME, shown(key), (key, "decorator_list"), "without decorators"))
    return found


def apply(case: Case, edits: Sequence[Edit]) -> Case | None:
    """The source with these blocks opened."""
    changes: dict[int, Change] = {}
    for edit in edits:
        place, known = keyed(case.source)[str(edit.payload[0])]
        node, part = copy.deepcopy(known), str(edit.payload[1])
        if part == "decorator_list":
            node.decorator_list = []  # type: ignore[attr-defined]
            changes[place] = node
        elif part == "value":
            changes[place] = ast.Expr(node.value)  # type: ignore[attr-defined]
        elif part == "call":
            body = _functions(case.source)[_called(node)].body
            changes[place] = [_without_return(item) for item in body]
        else:
            changes[place] = getattr(node, part)
    text = with_replaced(case.source, changes)
    if any(edit.payload[1] == "call" for edit in edits):
        text = without_unused(text)
    return None if text is None else replace(case, source=text)


def _called(node: ast.AST) -> str:
    """The name of the function that a statement only calls, without arguments; "" if it is another one."""
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or call.args or call.keywords:
        return ""
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _functions(source: str) -> dict[str, ast.FunctionDef]:
    """Functions of the module that return at their end, if at all."""
    found = {}
    for item in ast.parse(source).body:
        if isinstance(item, ast.FunctionDef):
            returns = [node for node in ast.walk(item) if isinstance(node, ast.Return)]
            if all(node is item.body[-1] for node in returns):
                found[item.name] = item
    return found


def _without_return(statement: ast.stmt) -> ast.stmt:
    if isinstance(statement, ast.Return):
        return ast.Expr(statement.value) if statement.value else ast.Pass()
    return statement
