"""Make the texts in a source empty: what they say may be the user's own affair."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from reducer.core.case import Case
from reducer.core.delta import Edit
from reducer.core.python_source import Change, keyed, shown, with_replaced

NAME = "source-strings"
TOGETHER = True


def edits(case: Case) -> Sequence[Edit]:
    """One for each text that is not empty."""
    return [
        Edit(NAME, f"text {shown(key)}", (key,), "empty")
        for key, (_, node) in keyed(case.source).items()
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value
    ]


def apply(case: Case, edits: Sequence[Edit]) -> Case | None:
    """The source with these texts empty."""
    changes: dict[int, Change] = {
        keyed(case.source)[str(edit.payload[0])][0]: ast.Constant("") for edit in edits
    }
    text = with_replaced(case.source, changes)
    return None if text is None else replace(case, source=text)
