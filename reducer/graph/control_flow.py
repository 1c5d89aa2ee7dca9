"""Which operands of a control-flow operator reach which inputs of its graphs?"""

from __future__ import annotations

from dataclasses import dataclass, replace

from reducer.core.case import (
    GETITEM,
    Argument,
    Case,
    Graph,
    GraphRef,
    Node,
    Ref,
    node_references,
    references,
    substitute,
    substitute_node,
)
from reducer.graph.cut import with_subgraph


@dataclass(frozen=True)
class Layout:
    """Positions among an operator's arguments.

    ``graphs`` are subgraphs; ``operands`` tuples of values that become the graphs' inputs in this
    order. ``carried`` is the operand position whose values the body (the last graph) returns anew.
    """

    graphs: tuple[int, ...]
    operands: tuple[int, ...]
    carried: int | None = None


LAYOUTS = {
    "higher_order.cond": Layout((1, 2), (3,)),
    "higher_order.while_loop": Layout((0, 1), (2, 3), carried=2),
    "higher_order.map_impl": Layout((0,), (1, 2)),
    "higher_order.scan": Layout((0,), (1, 2, 3)),
}


def operand_slots(node: Node) -> list[tuple[int, int]]:
    """(argument position, place in it) per input of the graphs, in the order of these inputs."""
    layout = LAYOUTS[node.target]
    slots = []
    for position in layout.operands:
        operands = node.args[position] if position < len(node.args) else ()
        if isinstance(operands, tuple):
            slots += [(position, place) for place in range(len(operands))]
    return slots


def drop_operand(case: Case, name: str, index: int) -> Case | None:
    """The case in which the operator no longer passes input ``index``; None if something reads it.

    A carried value of a while_loop also goes from the body's results, and later results move up.
    """
    node = next(item for item in case.graph.nodes if item.name == name)
    layout = LAYOUTS[node.target]
    position, place = operand_slots(node)[index]
    carried = layout.carried == position
    refs = [node.args[at] for at in layout.graphs]
    for at, reference in enumerate(refs):
        assert isinstance(reference, GraphRef)
        graph = case.subgraph(reference.name)
        outputs = graph.outputs
        if carried and at == len(refs) - 1:
            outputs = (*outputs[:place], *outputs[place + 1 :])
        smaller = Graph((*graph.inputs[:index], *graph.inputs[index + 1 :]), graph.nodes, outputs)
        smaller = replace(smaller, nodes=_live(smaller))
        gone = graph.inputs[index].name
        read = {n for inner in smaller.nodes for n in node_references(inner)}
        if gone in read | {n for output in outputs for n in references(output)}:
            return None
        case = with_subgraph(case, reference.name, smaller)
    operands = node.args[position]
    assert isinstance(operands, tuple)
    kept = (*operands[:place], *operands[place + 1 :])
    if carried and not kept:
        return None
    args = (*node.args[:position], kept, *node.args[position + 1 :])
    nodes = []
    for item in case.graph.nodes:
        if item.name == name:
            spec = item.spec
            if carried and isinstance(spec, tuple):
                spec = (*spec[:place], *spec[place + 1 :])
            nodes.append(replace(item, args=args, spec=spec))
        elif carried and item.target == GETITEM and item.args[0] == Ref(name):
            moved = _moved(item, place)
            if moved is not None:
                nodes.append(moved)
            elif any(item.name in node_references(other) for other in case.graph.nodes) or (
                Ref(item.name) in case.graph.outputs
            ):
                return None
        else:
            nodes.append(item)
    return case.with_graph(replace(case.graph, nodes=tuple(nodes)))


def _live(graph: Graph) -> tuple[Node, ...]:
    """Calls that the graph's outputs need (effects aside: a dropped operand's effects go with it)."""
    needed = {n for output in graph.outputs for n in references(output)}
    kept: list[Node] = []
    for node in reversed(graph.nodes):
        if node.name in needed or node.spec is None:
            needed |= set(node_references(node))
            kept.insert(0, node)
    return tuple(kept)


def _moved(item: Node, place: int) -> Node | None:
    index = item.args[1]
    if not isinstance(index, int) or index == place:
        return None
    return replace(item, args=(item.args[0], index - (index > place)))


def take_result(case: Case, name: str, index: int) -> Case | None:
    """The case in which item ``name`` of an operator's results is result ``index`` instead."""
    item = next(node for node in case.graph.nodes if node.name == name)
    owner = next((node for node in case.graph.nodes if Ref(node.name) == item.args[0]), None)
    if owner is None or not isinstance(owner.spec, tuple) or index >= len(owner.spec):
        return None
    changed = replace(item, args=(item.args[0], index), spec=owner.spec[index])
    nodes = tuple(changed if node.name == name else node for node in case.graph.nodes)
    return case.with_graph(replace(case.graph, nodes=nodes))


def inline(case: Case, name: str, which: int) -> Case | None:
    """The case in which one of the operator's graphs stands in place of the operator.

    None if the graph cannot be bound (a map's or scan's body works on slices).
    """
    node = next(item for item in case.graph.nodes if item.name == name)
    layout = LAYOUTS.get(node.target)
    if layout is None:
        reference = next((a for a in node.args if isinstance(a, GraphRef)), None)
        operands = [a for a in node.args if isinstance(a, Ref)]
    elif node.target in ("higher_order.cond", "higher_order.while_loop"):
        reference = node.args[layout.graphs[which]]  # type: ignore[assignment]
        operands = [node.args[p][q] for p, q in operand_slots(node)]  # type: ignore[index, misc]
    else:
        return None
    if reference is None:
        return None
    graph = case.subgraph(reference.name)
    if len(graph.inputs) != len(operands):
        return None
    names: dict[str, Argument] = {
        item.name: operand for item, operand in zip(graph.inputs, operands, strict=True)
    }
    return _spliced(case, node, graph, names)


def _spliced(case: Case, node: Node, graph: Graph, names: dict[str, Argument]) -> Case | None:
    results = tuple(substitute(output, names) for output in graph.outputs)
    known: dict[str, Argument] = {}
    nodes: list[Node] = []
    for item in case.graph.nodes:
        if item.name == node.name:
            nodes += [substitute_node(inner, names) for inner in graph.nodes]
            if len(results) == 1 and not isinstance(node.spec, tuple):
                known[node.name] = results[0]
        elif item.target == GETITEM and item.args[0] == Ref(node.name):
            index = item.args[1]
            if not isinstance(index, int) or index >= len(results):
                return None  # a loop's condition does not return what the loop does
            known[item.name] = results[index]
        else:
            nodes.append(substitute_node(item, known))
    outputs = tuple(substitute(output, known) for output in case.graph.outputs)
    return case.with_graph(Graph(case.graph.inputs, tuple(nodes), outputs))
