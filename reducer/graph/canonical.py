"""When are two cases the same one? When their canonical forms are equal.

Names, the order of inputs, the order of independent calls, which module made a call, and specs that
follow from others do not count. Values are numbered by a structural hash from the inputs on, in the
manner of hash-consing, and back from what reads them; calls are listed in the smallest topological
order under these hashes, with calls on written memory kept in their own order.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256

from reducer.core import text
from reducer.core.case import (
    Argument,
    Case,
    Check,
    Graph,
    GraphRef,
    Input,
    Node,
    Ref,
    graph_references,
    substitute,
)
from reducer.graph.topology import Topology, output_names

#: Version of the form: what is named after a case's digest says under which one.
CANONICAL_VERSION = 1


def canonical(case: Case) -> Case:
    """The case with canonical names and order."""
    graphs = dict(case.subgraphs)
    names: dict[str, str] = {}
    listed: list[tuple[str, Graph]] = []
    main = _canonical_graph(case.graph, case, graphs, names, listed, "v")
    return replace(
        case,
        graph=main,
        subgraphs=tuple(listed),
        schemas={},
        symbols=tuple(sorted(case.symbols, key=lambda symbol: symbol.name)),
        checks=tuple(_canonical_check(check, names) for check in case.checks),
    )


def _canonical_check(check: Check, names: Mapping[str, str]) -> Check:
    fills = [(names.get(name, name), fill) for name, fill in check.fills]
    return Check(tuple(sorted(check.sizes)), tuple(sorted(fills, key=lambda pair: pair[0])))


def case_digest(case: Case) -> str:
    """SHA-256 of the canonical form."""
    return text.digest(canonical(case))


def _canonical_graph(
    graph: Graph,
    case: Case,
    graphs: Mapping[str, Graph],
    names: dict[str, str],
    listed: list[tuple[str, Graph]],
    prefix: str,
) -> Graph:
    topology = Topology(graph, case.schemas)
    hashes: dict[str, str] = {}
    positional = prefix != "v"  # a subgraph's inputs are bound by position
    for position, item in enumerate(graph.inputs):
        plain = replace(item, name=str(position) if positional else "", made=False)
        fills = [dict(check.fills).get(item.name) for check in case.checks if not positional]
        hashes[item.name] = _hash(text.dumps((plain, *fills)))
    for node in graph.nodes:
        known: dict[str, Argument] = {name: Ref(hashes[name]) for name in topology.reads[node.name]}
        for name in graph_references(node.args):
            known[name] = GraphRef(_graph_hash(graphs[name], case, graphs))
        hashes[node.name] = _hash(text.dumps(_bare(node, "", known)))
    placed = _in_context(topology, hashes)
    order = _order(graph, topology, placed)
    inputs = list(graph.inputs) if positional else _input_order(topology, order, placed)
    for number, name in enumerate([*(item.name for item in inputs), *order]):
        names[name] = f"{prefix}{number}"
    nodes = []
    for name in order:
        node = topology.nodes[name]
        for inner in graph_references(node.args):
            if inner not in names:
                names[inner] = f"g{len(listed)}"
                listed.append((names[inner], graphs[inner]))
                position = len(listed) - 1
                small = _canonical_graph(
                    graphs[inner], case, graphs, names, listed, f"{names[inner]}v"
                )
                listed[position] = (names[inner], small)
        known = {read: Ref(names[read]) for read in topology.reads[name]}
        known |= {inner: GraphRef(names[inner]) for inner in graph_references(node.args)}
        nodes.append(_bare(node, names[name], known))
    local: dict[str, Argument] = {name: Ref(names[name]) for name in hashes}
    return Graph(
        tuple(replace(item, name=names[item.name], made=False) for item in inputs),
        tuple(nodes),
        tuple(substitute(output, local) for output in graph.outputs),
    )


def _bare(node: Node, name: str, known: Mapping[str, Argument]) -> Node:
    """The call with other names, and without what does not count."""
    args = tuple(substitute(argument, known) for argument in node.args)
    return Node(name, node.target, args, tuple((k, substitute(v, known)) for k, v in node.kwargs))


def _in_context(topology: Topology, hashes: Mapping[str, str]) -> dict[str, str]:
    """Hashes that also say how a value is used: twins may differ in their readers alone."""
    graph, reads = topology.graph, topology.reads
    uses: dict[str, list[str]] = {name: [] for name in hashes}
    for place, name in enumerate(output_names(graph)):
        uses[name].append(f"output {place}")
    found: dict[str, str] = {}
    for node in reversed(graph.nodes):
        found[node.name] = _hash(f"{hashes[node.name]} {sorted(uses[node.name])}")
        for place, name in enumerate(reads[node.name]):
            uses[name].append(f"{place} {found[node.name]}")
    for item in graph.inputs:
        found[item.name] = _hash(f"{hashes[item.name]} {sorted(uses[item.name])}")
    for node in graph.nodes:
        operands = [found[name] for name in reads[node.name]]
        found[node.name] = _hash(f"{found[node.name]} {operands}")
    return found


def _order(graph: Graph, topology: Topology, hashes: Mapping[str, str]) -> list[str]:
    """The smallest topological order under the hashes; effects keep their own order."""
    position = {node.name: place for place, node in enumerate(graph.nodes)}
    waits: dict[str, set[str]] = {
        node.name: {n for n in topology.dependencies.before[node.name] if n in position}
        for node in graph.nodes
    }
    # With writes about, order is meaning: calls keep their places.
    if any(any(True for _ in topology.written(node)) for node in graph.nodes):
        return list(position)
    ready = [(hashes[name], position[name], name) for name, left in waits.items() if not left]
    heapq.heapify(ready)
    order: list[str] = []
    while ready:
        name = heapq.heappop(ready)[2]
        order.append(name)
        for user in topology.dependencies.after[name]:
            if name in waits[user]:
                waits[user].remove(name)
                if not waits[user]:
                    heapq.heappush(ready, (hashes[user], position[user], user))
    return order


def _input_order(topology: Topology, order: list[str], hashes: Mapping[str, str]) -> list[Input]:
    graph = topology.graph
    seen = [name for call in order for name in topology.reads[call]]
    first = {
        name: place for place, name in reversed(list(enumerate([*seen, *output_names(graph)])))
    }
    return sorted(graph.inputs, key=lambda item: (first.get(item.name, 10**9), hashes[item.name]))


def _graph_hash(graph: Graph, case: Case, graphs: Mapping[str, Graph]) -> str:
    names: dict[str, str] = {}
    return text.digest(_canonical_graph(graph, case, graphs, names, [], "s"))


def _hash(content: str) -> str:
    return sha256(content.encode()).hexdigest()[:16]
