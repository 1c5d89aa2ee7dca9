"""Call ATen's operators where a graph in the middle of lowering calls those of ExecuTorch's edge dialect.

Every reader knows them, and a pass that treats both alike is at fault with both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reducer.core.case import Case
from reducer.core.delta import Edit
from reducer.graph.each_node import all_nodes, map_nodes

NAME = "edge-operators"
TOGETHER = True
_EDGE = "edge."


def edits(case: Case) -> list[Edit]:
    """One edit per operator of the edge dialect."""
    targets = dict.fromkeys(node.target for node in all_nodes(case))
    return [
        Edit(NAME, f"dialect of {target}", (target,), f"{target} -> {target.removeprefix(_EDGE)}")
        for target in targets
        if target.startswith(_EDGE)
    ]


def apply(case: Case, edits: Sequence[Edit]) -> Case | None:
    """Call what they wrap."""
    wrapped = {str(edit.payload[0]): str(edit.payload[0]).removeprefix(_EDGE) for edit in edits}
    schemas = {wrapped.get(target, target): schema for target, schema in case.schemas.items()}
    plain = map_nodes(
        case, lambda node: replace(node, target=wrapped.get(node.target, node.target))
    )
    return replace(plain, schemas=schemas) if edits else case
