"""Leave out statements of a source, and with them all that is in them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from reducer.core.case import Case
from reducer.core.delta import Edit
from reducer.core.python_source import ENTRY, keyed, shown, with_replaced

NAME = "source-statements"
TOGETHER = False


def edits(case: Case) -> Sequence[Edit]:
    """One for each statement but the function that fails, outer ones first."""
    if not case.source:
        return []
    found = []
    for key, (_, node) in keyed(case.source).items():
        entry = (
            isinstance(node, ast.FunctionDef)
            and node.name in ENTRY.values()
            and not node.col_offset
        )
        if isinstance(node, ast.stmt) and not isinstance(node, ast.Pass) and not entry:
            found.append(Edit(NAME, shown(key), (key,), "left out"))
    return found


def apply(case: Case, edits: Sequence[Edit]) -> Case | None:
    """The source without these statements."""
    places = keyed(case.source)
    text = with_replaced(case.source, {places[str(edit.payload[0])][0]: None for edit in edits})
    return None if text is None else replace(case, source=text)
