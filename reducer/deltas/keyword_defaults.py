"""Leave out arguments: optional ones take their defaults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reducer.core.case import Case, Node
from reducer.core.delta import Edit
from reducer.graph.each_node import map_nodes, nodes_with_schema
from reducer.graph.prune import prune
from reducer.graph.schema import parse_schema

NAME = "keyword-defaults"
TOGETHER = True


def edits(case: Case) -> list[Edit]:
    """One edit per optional argument that is given: leave it out, or give its default."""
    found = []
    for node, schema in nodes_with_schema(case):
        optional = {a.name: a for a in schema.arguments if a.has_default}
        for key, _ in node.kwargs:
            if key in optional:
                found.append(Edit(NAME, f"{node.name} {key}", (node.name, key), f"without {key}="))
        last = len(node.args) - 1
        for place, argument in enumerate(schema.arguments[: len(node.args)]):
            redundant = argument.is_default(node.args[place])
            named = isinstance(argument.value, str) and argument.element != "str"  # as `strided`
            if argument.has_default and (place == last or not (redundant or named)):
                what = f"{node.name} without {argument.name}"
                element = f"{node.name} {argument.name}"
                found.append(Edit(NAME, element, (node.name, place), what))
    return found


def apply(case: Case, edits: Sequence[Edit]) -> Case | None:
    """Leave them out; a positional argument in front of others takes its default's value."""
    dropped: dict[str, set[object]] = {}
    for edit in edits:
        dropped.setdefault(str(edit.payload[0]), set()).add(edit.payload[1])

    def change(node: Node) -> Node:
        gone = dropped.get(node.name)
        text = case.schemas.get(node.target)
        if gone is None or text is None:
            return node
        arguments = parse_schema(text).arguments
        args = [
            a.value if place in gone else v
            for place, (a, v) in enumerate(zip(arguments, node.args, strict=False))
        ]
        while args and len(args) - 1 in gone:
            args.pop()
        kwargs = tuple(pair for pair in node.kwargs if pair[0] not in gone)
        return replace(node, args=tuple(args), kwargs=kwargs)

    return prune(map_nodes(case, change))
