"""Pass lists of one number instead of several: one axis to roll over, one dimension to reduce."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reducer.core.case import Argument, Case, Node
from reducer.core.delta import Edit
from reducer.graph.each_node import all_nodes, map_nodes

NAME = "shorten-lists"
TOGETHER = True


def edits(case: Case) -> list[Edit]:
    """One edit per call with lists of numbers: all of its lists together, since they go in step."""
    return [
        Edit(NAME, f"lists of {node.name}", (node.name,), f"{node.name}: lists of one number")
        for node in all_nodes(case)
        if any(_is_long(value) for value in (*node.args, *(v for _, v in node.kwargs)))
    ]


def apply(case: Case, edits: Sequence[Edit]) -> Case | None:
    """Keep the first number of each list."""
    names = {edit.payload[0] for edit in edits}

    def change(node: Node) -> Node:
        if node.name not in names:
            return node
        args = tuple(_short(value) for value in node.args)
        return replace(node, args=args, kwargs=tuple((k, _short(v)) for k, v in node.kwargs))

    return map_nodes(case, change)


def _is_long(value: Argument) -> bool:
    return (
        isinstance(value, tuple)
        and len(value) > 1
        and all(isinstance(item, int | float) for item in value)
    )


def _short(value: Argument) -> Argument:
    return value[:1] if isinstance(value, tuple) and _is_long(value) else value
