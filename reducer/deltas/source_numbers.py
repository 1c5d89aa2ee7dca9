"""Make the numbers of a source smaller: one everywhere, so that sizes go on fitting, or in one place."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from reducer.core.case import Case
from reducer.core.delta import Edit
from reducer.core.python_source import Change, keyed, shown, with_replaced

NAME = "source-numbers"
TOGETHER = False


def edits(case: Case) -> Sequence[Edit]:
    """For each number above 1 that occurs: plainer ones everywhere, then in each place."""
    places: dict[int | float, list[str]] = {}
    for key, node in _numbers(case.source):
        places.setdefault(node.value, []).append(key)  # type: ignore[arg-type]
    found = []
    for value, where in sorted(places.items(), key=lambda pair: -pair[0]):
        for key in ["", *(where if len(where) > 1 else ())]:
            element = shown(key) if key else str(value)
            where_to = "" if key else " everywhere"
            found += [
                Edit(NAME, f"number {element}", (plainer, value, key), f"{plainer}{where_to}")
                for plainer in _plainer(value)
            ]
    return found


def apply(case: Case, edits: Sequence[Edit]) -> Case | None:
    """The source with these numbers."""
    changes: dict[int, Change] = {}
    for edit in edits:
        plainer, value, only = edit.payload
        for key, node in _numbers(case.source):
            if node.value == value and only in ("", key):
                changes[keyed(case.source)[key][0]] = ast.Constant(plainer)  # type: ignore[arg-type]
    text = with_replaced(case.source, changes) if case.source else ""
    return None if text is None else replace(case, source=text)


def _numbers(source: str) -> list[tuple[str, ast.Constant]]:
    return [
        (key, node)
        for key, (_, node) in keyed(source).items()
        if isinstance(node, ast.Constant) and type(node.value) in (int, float)
    ]


def _plainer(value: int | float) -> Iterator[int | float]:
    if isinstance(value, float):
        yield from (number for number in (1.0, 0.5) if value not in (0.0, 0.5, 1.0))
    elif value > 1:
        yield from dict.fromkeys(number for number in (1, 2, 3, value // 2) if number < value)
