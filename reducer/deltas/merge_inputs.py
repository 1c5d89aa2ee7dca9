"""Do without an input: read another input, or an earlier call's value, of equal shape and dtype.

What lay far apart in the model, and became one input and one output each, is joined to a chain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reducer.core.case import Case, Ref, TensorSpec
from reducer.core.delta import Edit
from reducer.graph.prune import prune, replace_value
from reducer.graph.topology import Topology, output_names, topology

NAME = "merge-inputs"
TOGETHER = True


def edits(case: Case) -> list[Edit]:
    """Per input that something reads: the nearest call before its readers, then another input."""
    shape = topology(case)
    written = {name for node in case.graph.nodes for name in shape.written(node)}
    return [
        Edit(NAME, f"input {item.name}", (item.name, other), f"{other} instead of {item.name}")
        for item in case.graph.inputs
        if isinstance(item.spec, TensorSpec) and item.name not in written
        for other in _substitutes(shape, item.name)
    ]


def apply(case: Case, edits: Sequence[Edit]) -> Case | None:
    """Read the other values; None if one of them is gone."""
    for edit in edits:
        name, other = str(edit.payload[0]), str(edit.payload[1])
        shape = topology(case)
        if name in shape.inputs:
            if other not in shape.inputs and other not in shape.nodes:
                return None
            case = prune(case.with_graph(replace_value(case.graph, name, Ref(other))))
    return case


def _substitutes(shape: Topology, name: str) -> Iterator[str]:
    readers = set(shape.users(name))
    if not readers and name not in output_names(shape.graph):
        return
    wanted = shape.inputs[name].spec
    calls = []
    for node in shape.graph.nodes:
        if node.name in readers:
            break
        calls.append(node)
    yield from [node.name for node in reversed(calls) if node.spec == wanted][:1]
    for other in shape.inputs.values():
        if other.name == name:
            return  # only earlier ones, so that two never replace each other
        if other.spec == wanted:
            yield other.name
            return
