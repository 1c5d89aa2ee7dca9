"""Do without a call: what reads its value reads another value of equal shape and dtype instead.

Also inside the graphs of control-flow operators, where there is no other way to remove a call.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from reducer.core.case import Case, Ref
from reducer.core.delta import Edit
from reducer.graph.cut import bypass, substitutes
from reducer.graph.topology import topology

NAME = "bypass-nodes"
TOGETHER = True
_ALTERNATIVES = 3


def edits(case: Case) -> list[Edit]:
    """For every call, last first: at most three values that could stand in for it."""
    found = []
    for label, graph in ((None, case.graph), *case.subgraphs):
        shape = topology(case, graph)
        where = f" in {label}" if label else ""
        for name, others in substitutes(shape):
            for other in islice(others, _ALTERNATIVES):
                what = f"{other} in place of {name}{where}"
                found.append(Edit(NAME, name, (name, other, label), what))
    return found


def apply(case: Case, edits: Sequence[Edit]) -> Case | None:
    """Bypass all of them, in the order given (later ones may have gone with earlier ones)."""
    replaced: dict[str, str] = {}
    for edit in edits:
        name, other, label = str(edit.payload[0]), str(edit.payload[1]), edit.payload[2]
        while other in replaced:
            other = replaced[other]
        graphs = dict(case.subgraphs)
        if label is not None and label not in graphs:
            continue
        graph = case.graph if label is None else graphs[str(label)]
        present = {node.name for node in graph.nodes} | {item.name for item in graph.inputs}
        if name not in present:
            continue
        if other not in present or other == name:
            return None
        case = bypass(case, name, Ref(other), None if label is None else str(label))
        replaced[name] = other
    return case
