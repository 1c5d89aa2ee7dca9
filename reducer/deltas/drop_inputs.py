"""Do without inputs that nothing reads, the last one (the anchor) included."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reducer.core.case import Case, node_references
from reducer.core.delta import Edit
from reducer.graph.prune import prune
from reducer.graph.topology import output_names

NAME = "drop-inputs"
TOGETHER = True


def edits(case: Case) -> list[Edit]:
    """One edit per input that nothing reads."""
    read = set(output_names(case.graph))
    for node in case.graph.nodes:
        read |= set(node_references(node))
    return [
        Edit(NAME, f"input {item.name}", (item.name,), f"without the unused input {item.name}")
        for item in case.graph.inputs
        if item.name not in read
    ]


def apply(case: Case, edits: Sequence[Edit]) -> Case | None:
    """Drop them."""
    names = {edit.payload[0] for edit in edits}
    inputs = tuple(item for item in case.graph.inputs if item.name not in names)
    if not edits:
        return case
    return prune(case.with_graph(replace(case.graph, inputs=inputs)), anchor=False)
