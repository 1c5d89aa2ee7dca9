"""Put the value of a source's variable where it is read: a name that is read once, or is another's."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from reducer.core.case import Case
from reducer.core.delta import Edit
from reducer.core.python_source import Change, keyed, numbered, shown, with_replaced

NAME = "source-names"
TOGETHER = False

#: These are what a reader looks for.
_KEPT = frozenset({"model", "example_inputs", "example_kwargs", "dynamic_shapes", "quantizer"})


def edits(case: Case) -> Sequence[Edit]:
    """One for each variable that is given once: read once or a constant, it is put there; unread, it goes."""
    if not case.source:
        return []
    found = []
    names = {place: key for key, (place, _) in keyed(case.source).items()}
    for place, reads, assign in _variables(numbered(case.source)):
        plain = isinstance(assign.value, ast.Constant | ast.Name)
        if len(reads) <= 1 or plain:
            key = names[place]
            found.append(Edit(NAME, shown(key), (key,), "its value where it is read"))
    return found


def apply(case: Case, edits: Sequence[Edit]) -> Case | None:
    """The source with the values of these in place of the names."""
    known = {place: (reads, assign) for place, reads, assign in _variables(numbered(case.source))}
    changes: dict[int, Change] = {}
    for edit in edits:
        place, _ = keyed(case.source)[str(edit.payload[0])]
        reads, assign = known[place]
        changes[place] = None if reads else ast.Expr(assign.value)
        changes |= dict.fromkeys(reads, assign.value)
    text = with_replaced(case.source, changes)
    return None if text is None else replace(case, source=text)


def _attributes(nodes: list[ast.AST]) -> Iterator[tuple[int, list[int], ast.Assign]]:
    """The same of attributes of self that are given once, and are a constant."""
    places = {id(node): place for place, node in enumerate(nodes)}
    every = [node for node in nodes if isinstance(node, ast.Attribute)]
    stored = Counter(node.attr for node in every if not isinstance(node.ctx, ast.Load))
    for node in nodes:
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if not isinstance(node, ast.Assign) or not isinstance(target, ast.Attribute):
            continue
        same = [other for other in every if other.attr == target.attr and other is not target]
        own = all(ast.unparse(other.value) == "self" for other in (target, *same))
        if own and stored[target.attr] == 1 and isinstance(node.value, ast.Constant):
            yield places[id(node)], [places[id(other)] for other in same], node


def _variables(nodes: list[ast.AST]) -> Iterator[tuple[int, list[int], ast.Assign]]:
    """(place of the assignment, places of its reads, assignment) of names that one function gives once."""
    yield from _attributes(nodes)
    places = {id(node): place for place, node in enumerate(nodes)}
    for scope in nodes:
        if not isinstance(scope, ast.FunctionDef | ast.Module):
            continue
        inner = list(ast.walk(scope)) if isinstance(scope, ast.FunctionDef) else nodes
        names = [node for node in inner if isinstance(node, ast.Name)]
        for node in scope.body:
            target = node.targets[0] if isinstance(node, ast.Assign) else None
            if not isinstance(node, ast.Assign) or not isinstance(target, ast.Name):
                continue
            same = [other for other in names if other.id == target.id]
            stores = [other for other in same if not isinstance(other.ctx, ast.Load)]
            if len(node.targets) == 1 and stores == [target] and target.id not in _KEPT:
                reads = [places[id(other)] for other in same if isinstance(other.ctx, ast.Load)]
                yield places[id(node)], reads, node
