"""What is there to say about a piece of Python without running it?

Sources are kept in the form that ``ast.unparse`` gives: comments and layout do not count.
"""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Union

from reducer.core.stage import Stage

#: The function of a case in source that fails, by the stage.
ENTRY = {Stage.EAGER: "forward", Stage.QUANTIZE: "quantize", Stage.EXPORT: "export"}


#: What takes the place of a node.
Change = Union[ast.AST, "list[ast.stmt]", None]


def normal(source: str | ast.Module) -> str:
    """The source in its one form, without docstrings. Raises SyntaxError.

    >>> normal("def f( x ): # why\\n  'doc'\\n  return(x)")
    'def f(x):\\n    return x'
    """
    tree = ast.parse(source) if isinstance(source, str) else source
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and _is_text(body[0]):
            node.body = body[1:] or ([] if node is tree else [ast.Pass()])  # type: ignore[attr-defined]
    return unparsed(tree)


def unparsed(tree: ast.AST) -> str:
    """The text of a tree that was changed; an empty block gets its ``pass``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module):
            continue
        if getattr(node, "body", None) == []:
            node.body = [ast.Pass()]  # type: ignore[attr-defined]
    return ast.unparse(ast.fix_missing_locations(tree))


@lru_cache(maxsize=4096)
def statements(source: str) -> int:
    """Number of statements, imports and ``pass`` not counted.

    >>> statements("import torch\\nclass A:\\n    pass\\nx = A()")
    2
    """
    free = (ast.Import, ast.ImportFrom, ast.Pass)
    return sum(
        isinstance(node, ast.stmt) and not isinstance(node, free)
        for node in ast.walk(ast.parse(source))
    )


@lru_cache(maxsize=4096)
def weight(source: str) -> tuple[int, int, int, int]:
    """How much a reader has to take in: statements, parts of expressions, numbers, characters."""
    nodes = list(ast.walk(ast.parse(source)))
    values = [node.value for node in nodes if isinstance(node, ast.Constant)]
    numbers = [abs(value) for value in values if type(value) in (int, float)]  # type: ignore[arg-type]
    size = sum(min(int(number), 10**6) if number == number // 1 else 10**6 for number in numbers)
    return statements(source), len(nodes), size, len(source)


def numbered(source: str) -> list[ast.AST]:
    """All nodes, in an order that the source fixes: a node's place names it."""
    return list(ast.walk(ast.parse(source)))


@lru_cache(maxsize=64)
def keyed(source: str) -> Mapping[str, tuple[int, ast.AST]]:
    """Statements and expressions with their places, by a key: the text, and which of its kind it is.

    A key means the same node after another part of the source has changed. The nodes must not be changed.

    >>> [(key, place) for key, (place, _) in keyed("a = f(a)").items()]
    [('a = f(a) #1', 1), ('a #1', 2), ('f(a) #1', 3), ('f #1', 5), ('a #2', 6)]
    """
    count: Counter[str] = Counter()
    found = {}
    for place, node in enumerate(numbered(source)):
        if isinstance(node, ast.stmt | ast.expr):
            text = ast.unparse(node)
            count[text] += 1
            found[f"{text} #{count[text]}"] = (place, node)
    return found


def shown(key: str) -> str:
    """A key for people: its first line.

    >>> shown("def f(x):\\n    return x #1"), shown("a #2")
    ('def f(x): ...', 'a (2)')
    """
    text, _, number = key.rpartition(" #")
    first, *more = text.splitlines()
    first = first if len(first) <= 72 else first[:69] + "..."
    return first + (" ..." if more else "") + (f" ({number})" if number != "1" else "")


def with_replaced(source: str, changes: Mapping[int, Change]) -> str | None:
    """The source with the nodes at these places replaced; None if that is no Python, or lacks a name.

    A change is the node to put there, a list of statements, or None to leave it out. What is read and
    no longer given would only fail otherwise: that needs no call to be known.

    >>> with_replaced("a = 1\\nb = 2", {1: None})
    'b = 2'
    """
    tree = ast.parse(source)
    found = {
        id(node): changes[place] for place, node in enumerate(ast.walk(tree)) if place in changes
    }
    try:
        text = ast.unparse(ast.parse(unparsed(_Replacing(found).visit(tree))))
    except (SyntaxError, ValueError, AttributeError, TypeError):
        return None
    return text if unbound(text) <= unbound(source) else None


@lru_cache(maxsize=256)
def unbound(source: str) -> frozenset[str]:
    """Names, and attributes of self, that a source reads and does not give.

    >>> sorted(unbound("a = b\\nclass A:\\n    def f(self):\\n        self.c = self.d + a"))
    ['.d', 'b']
    """
    tree = ast.parse(source)
    read: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            read.add(node.id)
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self":
            read.add(f".{node.attr}" if isinstance(node.ctx, ast.Load) else "")
    given = {*_defined(tree), *dir(builtins)}
    given |= {
        (alias.asname or alias.name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    return frozenset(name for name in read - {""} if name.removeprefix(".") not in given)


class _Replacing(ast.NodeTransformer):
    def __init__(self, changes: Mapping[int, Change]) -> None:
        self.changes = changes

    def visit(self, node: ast.AST) -> Any:
        """What stands in place of the node; what stands there is changed in turn."""
        if id(node) not in self.changes:
            return self.generic_visit(node)
        change = self.changes[id(node)]
        if isinstance(change, list):
            return [self.visit(item) for item in change]
        return None if change is None else self.generic_visit(change)


def unused(source: str) -> list[str]:
    """Keys of definitions, imports and variables at module level that the failing function does not lead to.

    >>> unused("import os\\na = 1\\nb = a\\ndef export():\\n    return b\\ndef f():\\n    pass")
    ['import os #1', 'def f():\\n    pass #1']
    """
    body = ast.parse(source).body
    reached = _reached(body)
    found = []
    for key, (place, node) in keyed(source).items():
        if 0 < place <= len(body) and isinstance(node, ast.stmt):  # walked right after the module
            names = set(_given(node))
            if names and not reached & names:
                found.append(key)
    return found


def without_unused(source: str | None) -> str | None:
    """The source without these."""
    if source is None:
        return None
    places = keyed(source)
    return with_replaced(source, {places[key][0]: None for key in unused(source)})


def defined_names(source: str) -> list[str]:
    """Names that the source gives: classes, functions, parameters, variables, attributes of self.

    >>> defined_names("class A:\\n    def f(self, x):\\n        self.b = y = x")
    ['A', 'f', 'self', 'x', 'b', 'y']
    """
    return list(dict.fromkeys(_defined(ast.parse(source))))


def imported(source: str) -> set[str]:
    """Modules that the source imports.

    >>> sorted(imported("import torch.nn as nn\\nfrom a.b import c"))
    ['a.b', 'torch.nn']
    """
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


def _defined(tree: ast.AST) -> Iterator[str]:
    if isinstance(tree, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        yield tree.name
    elif isinstance(tree, ast.arg):
        yield tree.arg
    elif isinstance(tree, ast.Name) and isinstance(tree.ctx, ast.Store):
        yield tree.id
    elif isinstance(tree, ast.Attribute) and isinstance(tree.ctx, ast.Store):
        yield tree.attr
    elif isinstance(tree, ast.ExceptHandler) and tree.name:
        yield tree.name
    for child in ast.iter_child_nodes(tree):
        yield from _defined(child)


def is_main_guard(statement: ast.stmt) -> bool:
    """Whether it is ``if __name__ == "__main__"``, in whatever form."""
    return isinstance(statement, ast.If) and "__name__" in ast.unparse(statement.test)


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _reached(body: list[ast.stmt]) -> set[str]:
    """Names that the failing function uses, directly or not; statements that name nothing use theirs."""
    users = {name: _used(statement) for statement in body for name in _given(statement)}
    waiting = [*ENTRY.values()]
    waiting += [
        name for statement in body if not list(_given(statement)) for name in _used(statement)
    ]
    reached: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += users.get(name, ())
    return reached


def _given(statement: ast.stmt) -> Iterator[str]:
    """Names that a statement of a module defines, and nothing else."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        if getattr(statement, "module", "") != "__future__":
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in statement.names)
    elif isinstance(statement, ast.Assign):
        names = [node for target in statement.targets for node in ast.walk(target)]
        if all(isinstance(node, ast.Name | ast.Tuple | ast.expr_context) for node in names):
            yield from (node.id for node in names if isinstance(node, ast.Name))


def _used(statement: ast.stmt) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
