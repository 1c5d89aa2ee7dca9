"""Make another of a source's modules the model, instead of the one that holds it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from reducer.core.case import Case
from reducer.core.delta import Edit
from reducer.core.python_source import unparsed, without_unused

NAME = "source-model"
TOGETHER = False


def edits(case: Case) -> Sequence[Edit]:
    """One for each expression that makes a part of a module, as in ``self.block = Block(4)``."""
    if not case.source:
        return []
    tree = ast.parse(case.source)
    if not list(_models(tree)):
        return []
    made = {
        ast.unparse(node.value): None
        for scope in tree.body
        if isinstance(scope, ast.ClassDef)
        for node in ast.walk(scope)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        if isinstance(node.targets[0], ast.Attribute)
    }
    return [Edit(NAME, "model", (text,), f"{text} instead") for text in made]


def apply(case: Case, edits: Sequence[Edit]) -> Case | None:
    """The source with that model."""
    if not edits:
        return case
    tree = ast.parse(case.source)
    for statement in _models(tree):
        statement.value = ast.parse(str(edits[0].payload[0]), mode="eval").body
    text = without_unused(unparsed(tree))
    return None if text is None else replace(case, source=text)


def _models(tree: ast.Module) -> Iterator[ast.Assign]:
    for item in tree.body:
        if isinstance(item, ast.Assign) and ast.unparse(item.targets[0]) == "model":
            yield item
