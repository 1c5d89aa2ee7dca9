"""Give tensors fewer dimensions: one, instead of several of size 1 around it.

Dimensions of size 1 go first, then leading ones.

Arguments that name a dimension are moved into the range that is left. What does not fit is refused by
fake propagation, for milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from reducer.core.case import Argument, Case, Fill, Input, Node, Spec, TensorSpec
from reducer.core.delta import Edit
from reducer.graph.each_node import map_nodes
from reducer.graph.schema import parse_schema

NAME = "ranks"
#: A lower rank of one tensor often asks for the same of another.
TOGETHER = False

_DIMENSIONS = frozenset({"dim", "dims", "dim0", "dim1", "axis"})


def edits(case: Case) -> list[Edit]:
    """All tensors to one dimension, then each alone to one less."""
    ranks = {
        item.name: len(item.spec.shape)
        for item in case.graph.inputs
        if isinstance(item.spec, TensorSpec)
    }
    high = [name for name, rank in ranks.items() if rank > 1]
    found = [Edit(NAME, "all ranks", ("all", 1), "every tensor has one dimension")] if high else []
    return found + [
        Edit(NAME, f"rank of {name}", (name, ranks[name] - 1), f"{name} has one dimension less")
        for name in high
    ]


def apply(case: Case, edits: Sequence[Edit]) -> Case | None:
    """Drop dimensions."""
    for edit in edits:
        which, rank = str(edit.payload[0]), int(edit.payload[1])  # type: ignore[arg-type]
        inputs = tuple(
            _flattened(item, rank) if which in ("all", item.name) else item
            for item in case.graph.inputs
        )
        case = case.with_graph(replace(case.graph, inputs=inputs))
        case = map_nodes(case, partial(_fitted, case=case, rank=rank, everywhere=which == "all"))
    return case


def _with_rank(spec: Spec, rank: int) -> Spec:
    if not isinstance(spec, TensorSpec) or len(spec.shape) <= rank:
        return spec
    axes = range(len(spec.shape))
    dispensable = sorted(axes, key=lambda axis: (spec.shape[axis] != 1, axis))
    gone = dispensable[: len(spec.shape) - rank]
    return replace(spec, shape=tuple(spec.shape[a] for a in axes if a not in gone), stride=None)


def _flattened(item: Input, rank: int) -> Input:
    spec, small = item.spec, _with_rank(item.spec, rank)
    if not isinstance(spec, TensorSpec) or not isinstance(small, TensorSpec) or small == spec:
        return item
    fits = item.fill.is_generated or small.elements == spec.elements
    return replace(item, spec=small, fill=item.fill if fits else Fill("random"))


def _fitted(node: Node, case: Case, rank: int, everywhere: bool) -> Node:
    text = case.schemas.get(node.target)
    if everywhere:  # what calls give follows, as far as can be told without running them
        node = replace(node, spec=_with_rank(node.spec, rank))
    if text is None:
        return node
    names = [argument.name for argument in parse_schema(text).arguments]
    args = tuple(
        _within(value, rank) if place < len(names) and names[place] in _DIMENSIONS else value
        for place, value in enumerate(node.args)
    )
    kwargs = tuple((k, _within(v, rank) if k in _DIMENSIONS else v) for k, v in node.kwargs)
    return replace(node, args=args, kwargs=kwargs)


def _within(value: Argument, rank: int) -> Argument:
    if isinstance(value, tuple):
        return tuple(dict.fromkeys(_within(item, rank) for item in value))
    if isinstance(value, int) and not isinstance(value, bool):
        return value if -rank <= value < rank else rank - 1
    return value
