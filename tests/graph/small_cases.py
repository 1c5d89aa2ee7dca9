"""Cases small enough to write down in a line, for tests of the graph's questions."""

from __future__ import annotations

from collections.abc import Mapping

from reducer.core.case import (
    GETITEM,
    Argument,
    Case,
    Graph,
    GraphRef,
    Input,
    Node,
    Ref,
    Spec,
    TensorSpec,
    node_references,
)
from reducer.core.recipe import Recipe
from tests.conformance.generated_cases import SCHEMAS

F32 = TensorSpec((2, 3), "float32")


def given(name: str = "x", role: str = "input", spec: Spec = F32) -> Input:
    return Input(name, role, spec)


def call(
    name: str, target: str, *args: Argument, spec: Spec = F32, module: str = "", **kwargs: Argument
) -> Node:
    """An operator call; text that starts with ``%`` is a value, with ``@`` a graph."""
    given = tuple((key, _refer(value)) for key, value in kwargs.items())
    return Node(name, FULL.get(target, target), tuple(map(_refer, args)), given, spec, module)


def graph(inputs: str, nodes: tuple[Node, ...], *outputs: str) -> Graph:
    """A graph over plain inputs, whose names are words."""
    return Graph(tuple(map(given, inputs.split())), nodes, tuple(map(_refer, outputs)))


def case(
    inputs: tuple[Input, ...], nodes: tuple[Node, ...], *outputs: str, **subgraphs: Graph
) -> Case:
    schemas: Mapping[str, str] = {
        node.target: SCHEMAS[node.target]
        for g in (Graph(inputs, nodes, ()), *subgraphs.values())
        for node in g.nodes
        if node.target in SCHEMAS
    }
    main = Graph(inputs, nodes, tuple(map(_refer, outputs)))
    return Case(main, Recipe(), tuple(subgraphs.items()), schemas=schemas)


def names(found: Case | Graph | None) -> str:
    """Names of a graph's calls, in order."""
    assert found is not None
    return " ".join(node.name for node in (found.graph if isinstance(found, Case) else found).nodes)


def reads(found: Case, name: str) -> list[str]:
    node = next(node for node in found.graph.nodes if node.name == name)
    return list(node_references(node))


FULL = {
    **{target.split(".")[1]: target for target in SCHEMAS},
    "add": "aten.add.Tensor", "mul": "aten.mul.Tensor", "scale": "aten.mul.Scalar",
    "getitem": GETITEM, "cond": "higher_order.cond", "while_loop": "higher_order.while_loop",
}  # fmt: skip


def _refer(value: Argument) -> Argument:
    if isinstance(value, tuple):
        return tuple(map(_refer, value))
    if isinstance(value, str) and value[:1] in "%@" and value:
        return Ref(value[1:]) if value[0] == "%" else GraphRef(value[1:])
    return value
