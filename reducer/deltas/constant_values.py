"""Fill tensors with zeros, ones, another number or seeded random numbers instead of the user's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from reducer.core.case import Case, Fill, Input, TensorSpec
from reducer.core.delta import Edit
from reducer.core.stage import Stage

NAME = "constant-values"
TOGETHER = True

_ORDER = ("zeros", "ones", "full", "random")
#: What numbers can be wrong for: negative ones, those beyond a bound, and far beyond.
_NUMBERS = (-1, 10, 1000)


def edits(case: Case) -> list[Edit]:
    """Per tensor input that is not all zeros: the plainer fills.

    Numbers other than 0 and 1 are tried only where a result is wrong: elsewhere they hardly matter.
    """
    numbers = _NUMBERS if case.recipe.last_stage is Stage.COMPARE else ()
    found = []
    for item in case.graph.inputs:
        for fill in _plainer(item, numbers):
            payload = (item.name, fill.kind, fill.values)
            shown = f"all {fill.values[0]}" if fill.values else fill.kind
            found.append(Edit(NAME, f"values of {item.name}", payload, f"{item.name}: {shown}"))  # type: ignore[arg-type]
    return found


def apply(case: Case, edits: Sequence[Edit]) -> Case | None:
    """Fill them."""
    fills = {}
    for edit in edits:
        name, kind, values = edit.payload
        fills[name] = Fill(str(kind), values=values)  # type: ignore[arg-type]
    inputs = tuple(
        replace(item, fill=fills.get(item.name, item.fill)) for item in case.graph.inputs
    )
    return case.with_graph(replace(case.graph, inputs=inputs))


def _plainer(item: Input, numbers: Sequence[int]) -> Iterator[Fill]:
    if not isinstance(item.spec, TensorSpec):
        return
    kind = item.fill.kind
    for simpler in _ORDER[: _ORDER.index(kind)] if kind in _ORDER else _ORDER:
        if simpler != "full":
            yield Fill(simpler)
        elif item.spec.dtype != "bool":
            yield from (Fill("full", values=(number,)) for number in numbers)
