"""Call a multiplication by 2 where any operator that keeps the shape would do.

What then remains of an operator's name in the repro is there because the failure needs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reducer.core.case import Case, Ref, Size, Spec, TensorSpec, references
from reducer.core.delta import Edit
from reducer.core.order import PLAINEST_OPERATOR, operator_rank
from reducer.graph.prune import prune
from reducer.graph.topology import topology

NAME = "plainer-operators"
TOGETHER = True
_SCHEMA = "aten::mul.Tensor(Tensor self, Tensor other) -> Tensor"


def edits(case: Case) -> list[Edit]:
    """One edit per call whose result is like one of the tensors that it reads."""
    shape = topology(case)
    found = []
    for node in case.graph.nodes:
        if operator_rank(node.target) == 0 or shape.is_effect(node):
            continue
        if not isinstance(node.spec, TensorSpec):
            continue
        read = [name for value in node.args for name in references(value)]
        alike = [name for name in read if _shape(shape.spec(name)) == node.spec.shape]
        if alike:
            what = f"{alike[0]} * 2 in place of {node.name}"
            found.append(Edit(NAME, f"operator of {node.name}", (node.name, alike[0]), what))
    return found


def _shape(spec: Spec) -> tuple[Size, ...] | None:
    return spec.shape if isinstance(spec, TensorSpec) else None


def apply(case: Case, edits: Sequence[Edit]) -> Case | None:
    """Put the multiplications in."""
    chosen = {str(edit.payload[0]): str(edit.payload[1]) for edit in edits}
    nodes = tuple(
        replace(node, target=PLAINEST_OPERATOR, args=(Ref(chosen[node.name]), 2), kwargs=())
        if node.name in chosen
        else node
        for node in case.graph.nodes
    )
    schemas = {**case.schemas, **({PLAINEST_OPERATOR: _SCHEMA} if chosen else {})}
    return prune(replace(case.with_graph(replace(case.graph, nodes=nodes)), schemas=schemas))
