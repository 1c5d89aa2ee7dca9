"""How is a value replaced by something simpler, so that what computed it can go?

The kinds of cut, in the words of the design: *input* (the caller passes it), *constant* and
*parameter* (the module holds it), *literal* (a scalar's number), *bypass* (another value of equal
shape and dtype). Which one keeps a failure differs from bug to bug.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import chain

from reducer.core.case import (
    Argument,
    Case,
    Fill,
    Graph,
    Input,
    ScalarSpec,
    Size,
    Spec,
    TensorSpec,
    node_references,
)
from reducer.graph.prune import prune, prune_graph, replace_value, spec_symbols, tidy
from reducer.graph.topology import Topology

ROLES = ("input", "constant", "parameter")
#: As a role: an input, of numbers that are larger than those that are drawn.
LARGE = "large"
_LARGE_NUMBERS = Fill("full", values=(10,))


def natural_role(topology: Topology, name: str) -> str:
    """The role that keeps a value's nature: a constant of the program stays one."""
    return "input" if name in topology.from_outside else "constant"


def cut(case: Case, roles: dict[str, str]) -> Case | None:
    """The case in which each named value comes from outside in the given role; None if one cannot.

    Values without a spec of their own (lists) cannot be cut; cut their items instead.
    """
    graph, nodes = case.graph, {node.name: node for node in case.graph.nodes}
    made: list[Input] = []
    for name, role in roles.items():
        item = as_input(name, nodes[name].spec, "input" if role == LARGE else role, case)
        if item is None:
            return None
        made.append(replace(item, fill=_LARGE_NUMBERS) if role == LARGE else item)
    graph = Graph(
        (*graph.inputs, *made),
        tuple(node for node in graph.nodes if node.name not in roles),
        graph.outputs,
    )
    return prune(case.with_graph(graph))


def bypass(case: Case, name: str, by: Argument, subgraph: str | None = None) -> Case:
    """The case in which everything that read ``name`` reads ``by`` instead."""
    if subgraph is None:
        return prune(case.with_graph(replace_value(case.graph, name, by)), drop_effects=(name,))
    graph = replace_value(case.subgraph(subgraph), name, by)
    kept = prune_graph(graph, case, drop_effects=(name,))
    graph = Graph(
        graph.inputs, kept.nodes, graph.outputs
    )  # operands are dropped by their own delta
    return with_subgraph(case, subgraph, graph)


def with_subgraph(case: Case, name: str, graph: Graph) -> Case:
    """The case with one subgraph exchanged."""
    subgraphs = tuple((key, graph if key == name else old) for key, old in case.subgraphs)
    return tidy(replace(case, subgraphs=subgraphs))


def as_input(name: str, spec: Spec, role: str, case: Case) -> Input | None:
    """An input that stands for a value; None for lists, and for scalars in other roles than input."""
    if isinstance(spec, TensorSpec):
        fixed = static_spec(spec, {symbol.name for symbol in case.symbols})
        if role != "input":
            fixed = static_spec(fixed, ())
        if role == "parameter" and not fixed.dtype.startswith(("float", "bfloat", "complex")):
            return None
        return Input(name, role, fixed, Fill("random"), made=True)
    if isinstance(spec, ScalarSpec) and role == "input" and spec.type in ("int", "float", "bool"):
        value = {"int": 1, "float": 1.0, "bool": True}[spec.type]
        return Input(name, role, ScalarSpec(spec.type), value=value, made=True)
    return None


def static_spec(spec: TensorSpec, symbols: Collection[str]) -> TensorSpec:
    """The spec with every size whose symbols are not all in ``symbols`` set to 2."""

    def fix(size: Size) -> Size:
        known = isinstance(size, int) or spec_symbols(TensorSpec((size,), "")) <= set(symbols)
        return size if known else 2

    shape = tuple(fix(size) for size in spec.shape)
    return spec if shape == spec.shape else replace(spec, shape=shape, stride=None)


def substitutes(topology: Topology) -> Iterator[tuple[str, Iterator[str]]]:
    """Each call, last first, with the values that may stand in for it: equal shape and dtype, before it.

    Its own operands come first, then inputs, then earlier calls from near to far: the first ones remove
    the least surprising amount, the last ones the most.
    """
    alike: dict[object, list[str]] = {}
    inputs: dict[object, list[str]] = {}
    for name, item in topology.inputs.items():
        inputs.setdefault(_shape_key(item.spec), []).append(name)
    for name, node in topology.nodes.items():
        alike.setdefault(_shape_key(node.spec), []).append(name)
    for node in reversed(topology.graph.nodes):
        wanted = _shape_key(node.spec)
        calls = alike[wanted]
        calls.pop()  # itself: those that are left come before it
        operands = (n for n in node_references(node) if _shape_key(topology.spec(n)) == wanted)
        found = chain(operands, inputs.get(wanted, ()), reversed(calls))
        yield node.name, iter(()) if wanted is None else _once(found)


def _once(names: Iterable[str]) -> Iterator[str]:
    seen: set[str] = set()
    for name in names:
        if name not in seen:
            seen.add(name)
            yield name


def _shape_key(spec: Spec) -> object:
    if isinstance(spec, TensorSpec):
        return (spec.shape, spec.dtype)
    if isinstance(spec, ScalarSpec):
        return spec.type
    return None
