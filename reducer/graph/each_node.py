"""How is something done to every call of a case, those inside control flow included?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from reducer.core.case import Case, Graph, Node, Spec
from reducer.graph.schema import Schema, parse_schema


def map_nodes(case: Case, change: Callable[[Node], Node]) -> Case:
    """The case with every call replaced by ``change(call)``."""

    def graph(old: Graph) -> Graph:
        return Graph(old.inputs, tuple(change(node) for node in old.nodes), old.outputs)

    return replace(
        case,
        graph=graph(case.graph),
        subgraphs=tuple((name, graph(old)) for name, old in case.subgraphs),
    )


def with_specs(case: Case, specs: Mapping[str, Spec]) -> Case:
    """The case with shapes and dtypes of the named calls brought up to date."""
    return map_nodes(case, lambda node: replace(node, spec=specs.get(node.name, node.spec)))


def all_nodes(case: Case) -> Iterator[Node]:
    """Every call, main graph first."""
    for graph in (case.graph, *(graph for _, graph in case.subgraphs)):
        yield from graph.nodes


def nodes_with_schema(case: Case) -> Iterator[tuple[Node, Schema]]:
    """Every call of an operator that has a schema, with it."""
    for node in all_nodes(case):
        text = case.schemas.get(node.target)
        if text is not None:
            yield node, parse_schema(text)
