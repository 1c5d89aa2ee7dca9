"""Lay tensors out contiguously instead of channels-last, transposed or expanded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reducer.core.case import Case, TensorSpec
from reducer.core.delta import Edit

NAME = "memory-formats"
TOGETHER = True


def edits(case: Case) -> list[Edit]:
    """One edit per input with strides of its own."""
    return [
        Edit(NAME, f"strides of {item.name}", (item.name,), f"{item.name} contiguous")
        for item in case.graph.inputs
        if isinstance(item.spec, TensorSpec) and item.spec.stride is not None
    ]


def apply(case: Case, edits: Sequence[Edit]) -> Case | None:
    """Forget the strides."""
    names = {edit.payload[0] for edit in edits}
    inputs = tuple(
        replace(item, spec=replace(item.spec, stride=None))
        if item.name in names and isinstance(item.spec, TensorSpec)
        else item
        for item in case.graph.inputs
    )
    return case.with_graph(replace(case.graph, inputs=inputs))
