"""Fill tensors with zeros, ones or seeded random numbers instead of the user's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reducer.core.case import Case, Fill, TensorSpec
from reducer.core.delta import Edit

NAME = "constant-values"
TOGETHER = True
_SIMPLER = ("zeros", "ones", "random")


def edits(case: Case) -> list[Edit]:
    """Per tensor input that is not all zeros: zeros, ones, random, as far as these are simpler."""
    found = []
    for item in case.graph.inputs:
        if isinstance(item.spec, TensorSpec):
            kind = item.fill.kind
            simpler = _SIMPLER[: _SIMPLER.index(kind)] if kind in _SIMPLER else _SIMPLER
            found += [
                Edit(NAME, f"values of {item.name}", (item.name, fill), f"{item.name}: {fill}")
                for fill in simpler
            ]
    return found


def apply(case: Case, edits: Sequence[Edit]) -> Case | None:
    """Fill them."""
    fills = {str(edit.payload[0]): Fill(str(edit.payload[1])) for edit in edits}
    inputs = tuple(
        replace(item, fill=fills.get(item.name, item.fill)) for item in case.graph.inputs
    )
    return case.with_graph(replace(case.graph, inputs=inputs))
