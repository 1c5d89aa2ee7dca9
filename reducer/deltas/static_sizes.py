"""Fix dynamic dimensions at the size that they have in the example inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reducer.core.case import Case, Input, Node, ScalarSpec, Size, Spec, TensorSpec
from reducer.core.delta import Edit
from reducer.core.sizes import evaluate_size
from reducer.graph.prune import tidy

NAME = "static-sizes"
TOGETHER = True


def edits(case: Case) -> list[Edit]:
    """One edit per symbol; its plainer ranges as alternatives."""
    found = []
    for symbol in case.symbols:
        element = f"dynamic size {symbol.name}"
        found.append(Edit(NAME, element, (symbol.name, "static"), f"{symbol.name} fixed"))
        if symbol.minimum > 0 or symbol.maximum is not None:
            found.append(
                Edit(NAME, element, (symbol.name, "open"), f"{symbol.name} without bounds")
            )
    return found


def apply(case: Case, edits: Sequence[Edit]) -> Case | None:
    """Replace the symbols by numbers wherever a size mentions them."""
    hints = {symbol.name: symbol.hint for symbol in case.symbols}
    chosen = {str(edit.payload[0]): edit.payload[1] for edit in edits}
    fixed = {name: hints[name] for name, how in chosen.items() if how == "static"}

    def size(old: Size) -> Size:
        return evaluate_size(old, fixed)

    def spec(old: Spec) -> Spec:
        if isinstance(old, TensorSpec):
            stride = None if old.stride is None else tuple(size(item) for item in old.stride)
            return TensorSpec(tuple(size(item) for item in old.shape), old.dtype, stride)
        if isinstance(old, tuple):
            return tuple(spec(item) for item in old)
        if isinstance(old, ScalarSpec) and old.symbol in fixed:
            return ScalarSpec(old.type)
        return old

    def item(old: Input) -> Input:
        return replace(old, spec=spec(old.spec))

    def node(old: Node) -> Node:
        return replace(old, spec=spec(old.spec))

    graph = case.graph
    graph = replace(
        graph,
        inputs=tuple(item(old) for old in graph.inputs),
        nodes=tuple(node(old) for old in graph.nodes),
    )
    left = tuple(
        replace(symbol, minimum=0, maximum=None) if symbol.name in chosen else symbol
        for symbol in case.symbols
        if symbol.name not in fixed
    )
    return tidy(replace(case, graph=graph, symbols=left))
