"""Use float32 instead of other dtypes, in inputs and in arguments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from reducer.core.case import Argument, Atom, Case, Fill, TensorSpec
from reducer.core.delta import Edit
from reducer.graph.each_node import all_nodes, map_nodes

NAME = "dtypes"
TOGETHER = True
_PLAIN = "float32"


def edits(case: Case) -> list[Edit]:
    """One edit per dtype other than float32 that the case mentions."""
    return [
        Edit(NAME, f"dtype {dtype}", (dtype,), f"{dtype} -> {_PLAIN}")
        for dtype in sorted(set(_dtypes(case)) - {_PLAIN})
    ]


def apply(case: Case, edits: Sequence[Edit]) -> Case | None:
    """Exchange the dtypes wherever they stand."""
    old = {str(edit.payload[0]) for edit in edits}

    def argument(value: Argument) -> Argument:
        if isinstance(value, tuple):
            return tuple(argument(item) for item in value)
        swap = isinstance(value, Atom) and value.kind == "dtype" and value.text in old
        return Atom("dtype", _PLAIN) if swap else value

    inputs = tuple(
        replace(item, spec=replace(item.spec, dtype=_PLAIN), fill=_fill(item.fill))
        if isinstance(item.spec, TensorSpec) and item.spec.dtype in old
        else item
        for item in case.graph.inputs
    )
    case = case.with_graph(replace(case.graph, inputs=inputs))
    return map_nodes(
        case,
        lambda node: replace(
            node,
            args=tuple(argument(value) for value in node.args),
            kwargs=tuple((key, argument(value)) for key, value in node.kwargs),
        ),
    )


def _fill(fill: Fill) -> Fill:
    return fill if fill.is_generated else Fill("random")


def _dtypes(case: Case) -> Iterator[str]:
    for item in case.graph.inputs:
        if isinstance(item.spec, TensorSpec):
            yield item.spec.dtype
    for node in all_nodes(case):
        pending: list[Argument] = [*node.args, *(value for _, value in node.kwargs)]
        while pending:
            value = pending.pop()
            if isinstance(value, tuple):
                pending.extend(value)
            elif isinstance(value, Atom) and value.kind == "dtype":
                yield value.text
