"""Do without an input: read another input, or an earlier call's value, of equal shape and dtype.

What lay far apart in the model, and became one input and one output each, is joined to a chain.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from reducer.core.case import Case, Ref, Spec, TensorSpec
from reducer.core.delta import Edit
from reducer.graph.prune import prune, replace_value
from reducer.graph.topology import output_names, topology

NAME = "merge-inputs"
TOGETHER = True


def edits(case: Case) -> list[Edit]:
    """Per input that something reads: the nearest call before its readers, then another input."""
    shape = topology(case)
    written = {name for node in case.graph.nodes for name in shape.written(node)}
    place = {node.name: number for number, node in enumerate(case.graph.nodes)}
    returned = set(output_names(case.graph))
    calls: dict[Spec, list[int]] = {}
    for number, node in enumerate(case.graph.nodes):
        calls.setdefault(node.spec, []).append(number)
    first: dict[
        Spec, str
    ] = {}  # only earlier inputs stand in, so that two never replace each other
    found = []
    for item in case.graph.inputs:
        readers = shape.users(item.name)
        other = first.setdefault(item.spec, item.name)
        if not isinstance(item.spec, TensorSpec) or item.name in written:
            continue
        if not readers and item.name not in returned:
            continue
        alike = calls.get(item.spec, [])
        before = bisect_left(alike, min((place[name] for name in readers), default=len(place)))
        names = [case.graph.nodes[number].name for number in alike[:before][-1:]]
        names += [other] if other != item.name else []
        found += [
            Edit(NAME, f"input {item.name}", (item.name, name), f"{name} instead of {item.name}")
            for name in names
        ]
    return found


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
