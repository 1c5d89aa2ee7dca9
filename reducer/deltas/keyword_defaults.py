"""Leave out arguments: optional ones take their defaults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reducer.core.case import Case
from reducer.core.delta import Edit
from reducer.graph.each_node import map_nodes, nodes_with_schema

NAME = "keyword-defaults"
TOGETHER = True


def edits(case: Case) -> list[Edit]:
    """One edit per keyword argument, and per trailing positional argument that has a default."""
    found = []
    for node, schema in nodes_with_schema(case):
        for key, _ in node.kwargs:
            if any(argument.name == key and argument.has_default for argument in schema.arguments):
                found.append(Edit(NAME, f"{node.name} {key}", (node.name, key), f"without {key}="))
        last = len(node.args) - 1
        if 0 <= last < len(schema.arguments) and schema.arguments[last].has_default:
            key = schema.arguments[last].name
            element = f"{node.name} {key}"
            found.append(Edit(NAME, element, (node.name, last), f"{node.name} without {key}"))
    return found


def apply(case: Case, edits: Sequence[Edit]) -> Case | None:
    """Leave them out; a positional argument goes only if it is still the last one."""
    dropped: dict[str, set[object]] = {}
    for edit in edits:
        dropped.setdefault(str(edit.payload[0]), set()).add(edit.payload[1])
    return map_nodes(
        case,
        lambda node: (
            replace(
                node,
                args=node.args[:-1] if len(node.args) - 1 in dropped[node.name] else node.args,
                kwargs=tuple(pair for pair in node.kwargs if pair[0] not in dropped[node.name]),
            )
            if node.name in dropped
            else node
        ),
    )
