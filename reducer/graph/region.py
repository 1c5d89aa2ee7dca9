"""Which part of a graph is a set of nodes, as a case of its own?"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from reducer.core.case import GETITEM, Argument, Case, Graph, Node, Ref, node_references
from reducer.graph.cut import as_input, natural_role
from reducer.graph.prune import prune
from reducer.graph.topology import Topology, output_names


def extract(
    case: Case, names: Collection[str], role: str | None = None, shape: Topology | None = None
) -> Case | None:
    """The subgraph of these values: what they read from outside is cut, what leaves them is returned.

    Inputs among ``names`` (a parameter at fault) bring the calls that read them. ``role`` is that of
    cut values; None keeps each value's nature (constants of the program stay constants). ``shape`` is
    the topology of the case, for callers that extract often. None is returned if a boundary value cannot
    be cut, or if there is no value to return.
    """
    topology = shape or Topology(case.graph, case.schemas)
    wanted = _complete(topology, names)
    nodes = [node for node in case.graph.nodes if node.name in wanted]
    if not nodes:
        return None
    inputs = {item.name: item for item in case.graph.inputs}
    for name in dict.fromkeys(name for node in nodes for name in topology.reads[node.name]):
        if name in wanted or name in inputs:
            continue
        made = as_input(
            name, topology.spec(name), role or natural_role(topology, name), case
        ) or as_input(name, topology.spec(name), "input", case)
        if made is None:
            return None
        inputs[name] = made
    outputs = _leaving(topology, nodes, wanted, names)
    if not outputs:
        return None
    graph = Graph(tuple(inputs.values()), tuple(nodes), tuple(outputs))
    return prune(replace(case, graph=graph, structure=None))


def backward_cone(case: Case, names: Iterable[str]) -> set[str]:
    """All calls that the named values need, themselves included."""
    topology = Topology(case.graph, case.schemas)
    return {name for name in topology.cone(names) if name in topology.nodes}


def module_of(case: Case, names: Collection[str]) -> set[str]:
    """All calls made by the innermost user module that made all of the named ones."""
    by_name = {node.name: node for node in case.graph.nodes}
    paths = [by_name[name].module.split(".") for name in names if name in by_name]
    if not paths:
        return set()
    common: list[str] = []
    for parts in zip(*paths, strict=False):
        if len(set(parts)) > 1:
            break
        common.append(parts[0])
    prefix = ".".join(common)
    return {
        node.name
        for node in case.graph.nodes
        if not prefix or node.module == prefix or node.module.startswith(f"{prefix}.")
    }


def _complete(topology: Topology, names: Collection[str]) -> set[str]:
    """The calls among ``names``, readers of inputs among them, and lists together with their items."""
    wanted = {name for name in names if name in topology.nodes}
    for name in names:
        if name in topology.inputs and topology.inputs[name].role != "input":
            wanted |= set(topology.users(name))
    for node in topology.graph.nodes:
        if node.target == GETITEM:
            source = next(iter(node_references(node)), "")
            if source in wanted or node.name in wanted:
                wanted |= {source, node.name} & set(topology.nodes)
    return wanted | topology.assertions_about(wanted)


def _leaving(
    topology: Topology, nodes: list[Node], wanted: set[str], names: Collection[str]
) -> list[Argument]:
    """What is returned: values that were read outside or returned, inputs at fault included."""
    outside = {
        name
        for node in topology.graph.nodes
        if node.name not in wanted
        for name in topology.reads[node.name]
    }
    returned = set(output_names(topology.graph))
    kept = [
        node.name for node in nodes if not isinstance(node.spec, tuple) and node.spec is not None
    ]
    leaving = outside | returned
    outputs = [name for name in kept if name in leaving]
    outputs += [name for name in names if name in topology.inputs and name in returned]
    if not outputs:
        read = {name for node in nodes for name in topology.reads[node.name]}
        outputs = [name for name in kept if name not in read] or kept[-1:]
    return [Ref(name) for name in outputs]
