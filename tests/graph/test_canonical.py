"""Have two writings of one program one digest, and two programs two?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from reducer.core.case import (
    Argument,
    Atom,
    Case,
    Fill,
    Graph,
    GraphRef,
    Input,
    Node,
    Ref,
    Symbol,
    TensorSpec,
    graph_references,
    node_references,
    substitute,
    substitute_node,
)
from reducer.core.recipe import Construct
from reducer.core.stage import Stage
from reducer.graph.canonical import canonical, case_digest
from tests.conformance.generated_cases import cases, problems
from tests.graph.small_cases import F32, call, case, given, graph

PURE = cases(writes=False)


def renamed(made: Case, names: dict[str, str]) -> Case:
    """Every value and graph under another name."""
    refs: dict[str, Argument] = {old: Ref(new) for old, new in names.items()}
    refs |= {name: GraphRef(names[name]) for name, _ in made.subgraphs}

    def one(old: Graph) -> Graph:
        return Graph(
            tuple(replace(item, name=names[item.name]) for item in old.inputs),
            tuple(
                replace(substitute_node(node, refs), name=names[node.name]) for node in old.nodes
            ),
            tuple(substitute(output, refs) for output in old.outputs),
        )

    subgraphs = tuple((names[name], one(old)) for name, old in made.subgraphs)
    checks = tuple(
        replace(check, fills=tuple((names[name], fill) for name, fill in check.fills))
        for check in made.checks
    )
    return replace(made, graph=one(made.graph), subgraphs=subgraphs, checks=checks)


def all_names(made: Case) -> list[str]:
    found = [name for name, _ in made.subgraphs]
    for one in (made.graph, *(g for _, g in made.subgraphs)):
        found += [item.name for item in one.inputs] + [node.name for node in one.nodes]
    return found


def reordered(nodes: tuple[Node, ...], choose: Callable[[int], int]) -> tuple[Node, ...]:
    """The calls in another order in which each still comes after what it reads."""
    left, order = list(nodes), []
    while left:
        waiting = {node.name for node in left}
        ready = [node for node in left if not waiting & set(node_references(node))]
        order.append(ready[choose(len(ready))])
        left.remove(order[-1])
    return tuple(order)


@for_all(cases(), st.data())
def test_names_do_not_count(made: Case, data: st.DataObject) -> None:
    names = all_names(made)
    others = data.draw(st.permutations([f"other_{n}" for n in range(len(names))]))
    assert case_digest(renamed(made, dict(zip(names, others, strict=True)))) == case_digest(made)


@for_all(cases(), st.data())
def test_the_order_of_inputs_does_not_count(made: Case, data: st.DataObject) -> None:
    inputs = tuple(data.draw(st.permutations(made.graph.inputs)))
    assert case_digest(made.with_graph(replace(made.graph, inputs=inputs))) == case_digest(made)


@for_all(PURE, st.data())
def test_the_order_of_independent_calls_does_not_count(made: Case, data: st.DataObject) -> None:
    nodes = reordered(made.graph.nodes, lambda n: data.draw(st.integers(0, n - 1)))
    assert case_digest(made.with_graph(replace(made.graph, nodes=nodes))) == case_digest(made)


def test_twins_that_are_told_apart_by_their_readers_alone_have_one_order() -> None:
    """Two inputs alike, two calls alike on them; only what reads these says which is which."""
    inputs = (given("x"), given("y"))
    one, two = call("a", "sin", "%x"), call("b", "sin", "%y")
    last = call("c", "sub", "%a", "%b")
    assert case_digest(case(inputs, (one, two, last), "%c")) == case_digest(
        case(inputs, (two, one, last), "%c")
    )


@for_all(cases(), st.sampled_from(["", "elsewhere", "a.b.c"]))
def test_user_modules_and_derived_specs_do_not_count(made: Case, module: str) -> None:
    nodes = tuple(replace(node, module=module, spec=None) for node in made.graph.nodes)
    assert case_digest(made.with_graph(replace(made.graph, nodes=nodes))) == case_digest(made)


@for_all(cases())
def test_graphs_that_nothing_calls_and_schemas_do_not_count(made: Case) -> None:
    idle = graph("idle_i", (call("idle_j", "sin", "%idle_i"),), "%idle_j")
    schemas = {**made.schemas, "aten.idle.default": "aten::idle(Tensor self) -> Tensor"}
    other = replace(made, subgraphs=(("idle", idle), *made.subgraphs), schemas=schemas)
    assert case_digest(other) == case_digest(made)


@for_all(cases())
def test_a_canonical_case_is_sound_and_its_own_canonical_form(made: Case) -> None:
    once = replace(canonical(made), schemas=made.schemas)
    assert problems(once) == []
    assert case_digest(once) == case_digest(made)


X, Y = given("x"), Input("w", "parameter", F32, Fill("random"))
INNER = graph("i", (call("j", "sin", "%i"),), "%j")
BASE = case(
    (X, Y),
    (
        call("a", "sin", "%x"),
        call("b", "sub", "%a", "%w", alpha=2),
        call("c", "cond", "%b", "@g", "@g", ("%b",), spec=(F32,)),
    ),
    "%c", "%a",
    g=INNER,
)  # fmt: skip


def node(place: int, **changes: object) -> Case:
    nodes = list(BASE.graph.nodes)
    nodes[place] = replace(nodes[place], **changes)  # type: ignore[arg-type]
    return BASE.with_graph(replace(BASE.graph, nodes=tuple(nodes)))


def item(place: int, **changes: object) -> Case:
    inputs = list(BASE.graph.inputs)
    inputs[place] = replace(inputs[place], **changes)  # type: ignore[arg-type]
    return BASE.with_graph(replace(BASE.graph, inputs=tuple(inputs)))


def recipe(**changes: object) -> Case:
    return replace(BASE, recipe=replace(BASE.recipe, **changes))  # type: ignore[arg-type]


def inner(**changes: object) -> Case:
    return replace(BASE, subgraphs=(("g", replace(INNER, **changes)),))  # type: ignore[arg-type]


CHANGED = {
    "operator": node(0, target="aten.relu.default"),
    "operand": node(1, args=(Ref("w"), Ref("a"))),
    "operand read twice": node(1, args=(Ref("a"), Ref("a"))),
    "argument": node(0, args=(Ref("x"), 1)),
    "argument's type": node(0, args=(Ref("x"), True)),
    "argument's float": node(0, args=(Ref("x"), 1.0)),
    "dtype argument": node(0, args=(Ref("x"), Atom("dtype", "int8"))),
    "keyword": node(1, kwargs=(("alpha", 3),)),
    "no keyword": node(1, kwargs=()),
    "name of a keyword": node(1, kwargs=(("beta", 2),)),
    "shape": item(0, spec=TensorSpec((2, 4), "float32")),
    "dtype": item(0, spec=TensorSpec((2, 3), "int8")),
    "strides": item(0, spec=TensorSpec((2, 3), "float32", (1, 2))),
    "role": item(1, role="buffer"),
    "fill": item(1, fill=Fill("ones")),
    "seed": item(1, fill=Fill("random", 1)),
    "literal": item(1, fill=Fill("literal", values=(1.0,))),
    "persistence": item(1, persistent=False),
    "further input": BASE.with_graph(replace(BASE.graph, inputs=(X, Y, given("z")))),
    "fewer outputs": BASE.with_graph(replace(BASE.graph, outputs=(Ref("c"),))),
    "order of outputs": BASE.with_graph(replace(BASE.graph, outputs=(Ref("a"), Ref("c")))),
    "structure": replace(BASE, structure=("list", "*", "*")),
    "symbol": replace(BASE, symbols=(Symbol("s0", 4),)),
    "hint": replace(BASE, symbols=(Symbol("s0", 5),)),
    "range": replace(BASE, symbols=(Symbol("s0", 5, 2),)),
    "backend": recipe(backend="vulkan"),
    "partitioner": recipe(partitioners=(Construct("a:P"),)),
    "partitioner's option": recipe(partitioners=(Construct("a:P", kwargs=(("k", 1),)),)),
    "compile config": recipe(compile_config=Construct("a:C")),
    "passes": recipe(transform_passes=(Construct("a:T"),)),
    "executorch config": recipe(executorch_config=Construct("a:E")),
    "steps": recipe(two_steps=True),
    "last stage": recipe(last_stage=Stage.TO_EDGE),
    "operator in a graph": inner(nodes=(call("j", "relu", "%i"),)),
    "output of a graph": inner(outputs=(Ref("i"),)),
    "dead call in a graph": inner(nodes=(call("j", "sin", "%i"), call("k", "sin", "%j"))),
}


def test_all_that_counts_gives_digests_of_its_own() -> None:
    digests = {what: case_digest(changed) for what, changed in CHANGED.items()}
    digests["nothing"] = case_digest(BASE)
    same = {d: [what for what in digests if digests[what] == d] for d in digests.values()}
    assert all(len(rows) == 1 for rows in same.values()), same


def test_with_writes_about_the_order_counts() -> None:
    inputs = (given("x"), given("b", "buffer"))
    write, read = call("w", "add_", "%b", "%x"), call("r", "sin", "%b")
    assert case_digest(case(inputs, (write, read), "%r")) != case_digest(
        case(inputs, (read, write), "%r")
    )


def test_which_of_two_alike_inputs_is_read_again_counts() -> None:
    inputs = (given("x"), given("y"))
    first = call("a", "sub", "%x", "%y")
    one = case(inputs, (first, call("b", "mul", "%a", "%x")), "%b")
    other = case(inputs, (first, call("b", "mul", "%a", "%y")), "%b")
    assert case_digest(one) != case_digest(other)


def test_the_order_of_operands_in_a_graph_counts() -> None:
    body = graph("i k", (call("j", "sub", "%i", "%k"),), "%j")
    swapped = graph("k i", (call("j", "sub", "%i", "%k"),), "%j")
    calls = (call("c", "cond", "%x", "@g", "@g", ("%x", "%w"), spec=(F32,)),)
    assert case_digest(case((X, Y), calls, "%c", g=body)) != case_digest(
        case((X, Y), calls, "%c", g=swapped)
    )


@pytest.mark.parametrize("twice", [True, False])
def test_calling_one_graph_twice_is_calling_two_alike(twice: bool) -> None:
    """A graph that is shared is written once; either way the digest is the same each time."""
    other = renamed(case((X,), (), "%x", g=INNER), {"x": "x", "g": "h", "i": "i2", "j": "j2"})
    graphs = {"g": INNER} if twice else {"g": INNER, "h": other.subgraph("h")}
    second = "@g" if twice else "@h"
    made = case(
        (X,), (call("c", "cond", "%x", "@g", second, ("%x",), spec=(F32,)),), "%c", **graphs
    )
    assert case_digest(made) == case_digest(replace(made, subgraphs=made.subgraphs[::-1]))


def test_references_of_a_canonical_case_are_its_own() -> None:
    form = canonical(BASE)
    assert [g for node in form.graph.nodes for g in graph_references(node.args)] == ["g0", "g0"]
    assert [name for name, _ in form.subgraphs] == ["g0"]
    assert form.graph.nodes[0].name.startswith("v")
