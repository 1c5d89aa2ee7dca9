"""What is left of a case when some of it is no longer wanted?

All edits end here: calls that nothing needs are dropped, then inputs that nothing reads, then
subgraphs, symbols and schemas that nothing mentions. When no input would be left, an unused one of one
element takes their place (the *anchor*): some failures vanish in a graph without inputs, so doing
without any is a decision of its own (:mod:`reducer.deltas.drop_inputs`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from reducer.core.case import (
    Argument,
    Case,
    Check,
    Graph,
    Input,
    Size,
    Spec,
    Structure,
    Symbol,
    TensorSpec,
    graph_references,
    node_references,
    substitute,
    substitute_node,
)
from reducer.core.sizes import size_symbols
from reducer.graph.topology import Topology, output_names

ANCHOR = Input("x", "input", TensorSpec((1,), "float32"))


def prune(case: Case, *, drop_effects: Collection[str] = (), anchor: bool = True) -> Case:
    """The case without what its outputs and effects do not need.

    Effects named in ``drop_effects`` do not count as needed. Assertions are kept while all that they
    read is. With ``anchor`` False a graph may end up with no input at all, and so may one that a pass
    alone is run on.
    """
    graph = prune_graph(case.graph, case, drop_effects)
    anchor = anchor and case.recipe.alone is None
    if anchor and not any(item.role == "input" for item in graph.inputs):
        graph = replace(graph, inputs=(_fresh_anchor(graph), *graph.inputs))
    return tidy(case.with_graph(graph))


def prune_graph(graph: Graph, case: Case, drop_effects: Collection[str] = ()) -> Graph:
    """One graph without dead calls and unread inputs (none is kept as an anchor)."""
    topology = Topology(graph, case.schemas)
    effects = [name for name in topology.effects if name not in drop_effects]
    written = [name for name in effects if not topology.is_assertion(topology.nodes[name])]
    needed = _needed(topology, [*output_names(graph), *written], drop_effects)
    needed |= topology.assertions_about(needed, without=drop_effects)
    nodes = tuple(node for node in graph.nodes if node.name in needed)
    read = {name for node in nodes for name in node_references(node)} | set(output_names(graph))
    return Graph(tuple(item for item in graph.inputs if item.name in read), nodes, graph.outputs)


def _needed(topology: Topology, roots: list[str], dropped: Collection[str]) -> set[str]:
    """The cone of ``roots``, in which a dropped effect is needed only by what reads its value."""
    if not dropped:
        return topology.cone(roots)
    found: set[str] = set()
    values = topology.dependencies.before
    pending = [name for name in roots if name in values]
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            read = set(node_references(topology.nodes[name])) if name in topology.nodes else set()
            pending += [n for n in values[name] if n not in dropped or n in read]
    return found


def tidy(case: Case) -> Case:
    """The case without subgraphs, symbols and schemas that nothing mentions any more."""
    graphs = dict(case.subgraphs)
    reached: list[str] = []
    pending = [case.graph]
    while pending:
        for node in pending.pop().nodes:
            for name in graph_references(node.args):
                if name not in reached:
                    reached.append(name)
                    pending.append(graphs[name])
    subgraphs = tuple((name, graph) for name, graph in case.subgraphs if name in reached)
    targets = {n.target for g in (case.graph, *(g for _, g in subgraphs)) for n in g.nodes}
    mentioned = {name for item in case.graph.inputs for name in spec_symbols(item.spec)}
    symbols = tuple(symbol for symbol in case.symbols if symbol.name in mentioned)
    inputs = {item.name for item in case.graph.inputs}
    return replace(
        case,
        subgraphs=subgraphs,
        symbols=symbols,
        schemas={key: text for key, text in case.schemas.items() if key in targets},
        checks=tidy_checks(case.checks, symbols, inputs),
    )


def tidy_checks(
    checks: Iterable[Check], symbols: Iterable[Symbol], inputs: Collection[str]
) -> tuple[Check, ...]:
    """The checks without symbols and inputs that are gone, and without any that checks nothing."""
    hints = {symbol.name: symbol.hint for symbol in symbols}
    kept = (
        Check(
            tuple((name, size) for name, size in check.sizes if name in hints),
            tuple((name, fill) for name, fill in check.fills if name in inputs),
        )
        for check in checks
    )
    telling = (c for c in kept if c.fills or any(hints[name] != size for name, size in c.sizes))
    return tuple(dict.fromkeys(telling))


def with_outputs(case: Case, kept: Iterable[int]) -> Case:
    """The case returning only the outputs at these positions (not pruned)."""
    positions = sorted(kept)
    structure = case.structure
    if len(positions) != len(case.graph.outputs):
        structure = _prune_structure(structure, set(positions))
    outputs = tuple(case.graph.outputs[position] for position in positions)
    return replace(case, graph=replace(case.graph, outputs=outputs), structure=structure)


def spec_symbols(spec: Spec) -> set[str]:
    """Names of the symbols in a spec's sizes."""
    sizes: tuple[Size, ...] = ()
    if isinstance(spec, TensorSpec):
        sizes = spec.shape
    elif spec is not None and not isinstance(spec, tuple) and spec.symbol:
        sizes = (spec.symbol,)
    return {name for size in sizes for name in size_symbols(size)}


def replace_value(graph: Graph, name: str, by: Argument) -> Graph:
    """The graph with every read of value ``name`` replaced, outputs included; its producer stays."""
    names = {name: by}
    return Graph(
        graph.inputs,
        tuple(substitute_node(node, names) for node in graph.nodes),
        tuple(substitute(output, names) for output in graph.outputs),
    )


def _fresh_anchor(graph: Graph) -> Input:
    taken = {item.name for item in graph.inputs} | {node.name for node in graph.nodes}
    name, number = ANCHOR.name, 0
    while name in taken:
        number += 1
        name = f"{ANCHOR.name}_{number}"
    return replace(ANCHOR, name=name)


def _prune_structure(structure: Structure, kept: set[int]) -> Structure:
    counter = iter(range(10**9))

    def walk(tree: Structure) -> Structure:
        if not isinstance(tree, tuple):
            return "*" if next(counter) in kept else None
        kind, children = str(tree[0]), [walk(child) for child in tree[1:]]
        left = [child for child in children if child is not None]
        if not left:
            return None
        if len(left) < len(children):
            if kind.startswith("dict:"):
                names = kind[5:].split(",")
                names = [n for n, child in zip(names, children, strict=True) if child is not None]
                kind = f"dict:{','.join(names)}"
            elif kind.startswith("named:"):
                kind = "tuple"  # a named tuple cannot lack a field
        return (kind, *left)

    return None if structure is None else walk(structure)
