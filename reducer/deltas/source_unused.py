"""Leave out what the failing function of a source does not lead to: definitions that nobody names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reducer.core.case import Case
from reducer.core.delta import Edit
from reducer.core.python_source import keyed, shown, unused, with_replaced

NAME = "source-unused"
TOGETHER = True


def edits(case: Case) -> Sequence[Edit]:
    """One for each definition, import or variable at module level that is not reached."""
    if not case.source:
        return []
    return [Edit(NAME, f"unused: {shown(key)}", (key,), "left out") for key in unused(case.source)]


def apply(case: Case, edits: Sequence[Edit]) -> Case | None:
    """The source without these."""
    places = keyed(case.source)
    text = with_replaced(case.source, {places[str(edit.payload[0])][0]: None for edit in edits})
    return None if text is None else replace(case, source=text)
