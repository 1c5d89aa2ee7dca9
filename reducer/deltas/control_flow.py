"""Simplify control flow: put one of its graphs in place of the operator, pass it fewer values.

Calls inside its graphs are bypassed by :mod:`reducer.deltas.bypass_nodes`, their numbers made plain
by the attribute deltas.
"""

from __future__ import annotations

from collections.abc import Sequence

from reducer.core.case import GETITEM, Case, Ref, graph_references
from reducer.core.delta import Edit
from reducer.graph.control_flow import LAYOUTS, drop_operand, inline, operand_slots, take_result
from reducer.graph.prune import prune

NAME = "control-flow"
TOGETHER = True


def edits(case: Case) -> list[Edit]:
    """Per operator with graphs: each graph inline, then without each of its operands, last first.

    A value that is not the operator's first result may become that, so that the others can go.
    """
    found = []
    owners = {node.name for node in case.graph.nodes if list(graph_references(node.args))}
    for node in case.graph.nodes:
        if (
            node.target == GETITEM
            and node.args[0] in [Ref(name) for name in owners]
            and node.args[1] != 0
        ):
            what = f"{node.name}: the first result instead"
            found.append(Edit(NAME, f"result {node.name}", ("result", node.name, 0), what))
        graphs = list(graph_references(node.args))
        if not graphs:
            continue
        for which in reversed(range(len(graphs))):
            what = f"graph {which} of {node.name} inline"
            found.append(Edit(NAME, f"operator {node.name}", ("inline", node.name, which), what))
        if node.target in LAYOUTS:
            for index in reversed(range(len(operand_slots(node)))):
                element = f"operand {index} of {node.name}"
                payload = ("operand", node.name, index)
                found.append(Edit(NAME, element, payload, f"without {element}"))
    return found


def apply(case: Case, edits: Sequence[Edit]) -> Case | None:
    """Make the changes; operands go from the last to the first."""
    order = sorted(edits, key=lambda edit: -int(edit.payload[2]))  # type: ignore[arg-type]
    changed: Case | None = case
    for edit in order:
        kind, name, number = edit.payload
        if changed is None or name not in {node.name for node in changed.graph.nodes}:
            return None
        changed = _CHANGES[str(kind)](changed, str(name), int(number))  # type: ignore[arg-type]
    return None if changed is None else prune(changed)


_CHANGES = {"inline": inline, "operand": drop_operand, "result": take_result}
