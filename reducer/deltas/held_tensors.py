"""Let the caller pass a tensor that the module holds: a parameter, buffer or constant as an input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reducer.core.case import Case, TensorSpec
from reducer.core.delta import Edit

NAME = "held-tensors"
TOGETHER = True


def edits(case: Case) -> list[Edit]:
    """One edit per tensor that the module holds."""
    return [
        Edit(NAME, f"role of {item.name}", (item.name,), f"{item.name} given as an input")
        for item in case.graph.inputs
        if item.role != "input" and isinstance(item.spec, TensorSpec)
    ]


def apply(case: Case, edits: Sequence[Edit]) -> Case | None:
    """Make them inputs, behind those that there are."""
    names = {edit.payload[0] for edit in edits}
    kept = [item for item in case.graph.inputs if item.name not in names]
    moved = [
        replace(item, role="input", persistent=True, made=True)
        for item in case.graph.inputs
        if item.name in names
    ]
    return case.with_graph(replace(case.graph, inputs=(*kept, *moved)))
