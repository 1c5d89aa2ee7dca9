"""Pass lists of one number instead of several: one axis to roll over, one dimension to reduce."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reducer.core.case import Argument, Case, Node
from reducer.core.delta import Edit
from reducer.graph.each_node import map_nodes, nodes_with_schema
from reducer.graph.schema import parse_schema

NAME = "shorten-lists"
TOGETHER = True


def edits(case: Case) -> list[Edit]:
    """One edit per call with lists of numbers: all of its lists together, since they go in step."""
    return [
        Edit(NAME, f"lists of {node.name}", (node.name,), f"{node.name}: lists of one number")
        for node, schema in nodes_with_schema(case)
        if any(_is_long(value) and not a.is_default(value) for a, value in schema.bind(node))
    ]


def apply(case: Case, edits: Sequence[Edit]) -> Case | None:
    """Keep the first number of each list."""
    names = {edit.payload[0] for edit in edits}

    def change(node: Node) -> Node:
        if node.name not in names:
            return node
        known = {a.name: a for a in parse_schema(case.schemas[node.target]).arguments}
        positional = zip(known.values(), node.args, strict=False)
        args = tuple(v if a.is_default(v) else _short(v) for a, v in positional)
        kwargs = tuple((k, v if known[k].is_default(v) else _short(v)) for k, v in node.kwargs)
        return replace(node, args=args, kwargs=kwargs)

    return map_nodes(case, change)


def _is_long(value: Argument) -> bool:
    return (
        isinstance(value, tuple)
        and len(value) > 1
        and all(isinstance(item, int | float) for item in value)
    )


def _short(value: Argument) -> Argument:
    return value[:1] if isinstance(value, tuple) and _is_long(value) else value
