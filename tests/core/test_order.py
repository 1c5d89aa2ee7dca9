"""Is "simpler" a total order that puts what matters to a reader first?"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

from reducer.core.case import Atom, Case, Fill, Graph, Input, Node, Ref, Symbol, TensorSpec
from reducer.core.order import argument_weight, sort_key
from reducer.core.recipe import Construct, Recipe
from reducer.deltas import ATTRIBUTES
from tests.conformance.generated_cases import cases

F32 = TensorSpec((2, 3), "float32")
X = Input("x", "input", F32)
SIN = Node("n", "aten.sin.default", (Ref("x"),), spec=F32)
CASE = Case(Graph((X,), (SIN,), (Ref("n"),)), Recipe())


def with_input(**changes: object) -> Case:
    return CASE.with_graph(replace(CASE.graph, inputs=(replace(X, **changes),)))  # type: ignore[arg-type]


def with_recipe(**changes: object) -> Case:
    return replace(CASE, recipe=replace(CASE.recipe, **changes))  # type: ignore[arg-type]


def with_arguments(*args: object, **kwargs: object) -> Case:
    node = replace(SIN, args=(Ref("x"), *args), kwargs=tuple(kwargs.items()))  # type: ignore[arg-type]
    return CASE.with_graph(replace(CASE.graph, nodes=(node,)))


SIZED = TensorSpec(("s0", 3), "float32")
#: (what it shows, the simpler one, the other)
PAIRS = [
    ("fewer operators", CASE,
     CASE.with_graph(replace(CASE.graph, nodes=(SIN, replace(SIN, name="m"))))),
    ("fewer outputs", CASE, CASE.with_graph(replace(CASE.graph, outputs=(Ref("n"), Ref("n"))))),
    ("fewer inputs", CASE, CASE.with_graph(replace(CASE.graph, inputs=(X, replace(X, name="y"))))),
    ("no symbols", CASE, replace(with_input(spec=SIZED), symbols=(Symbol("s0", 2),))),
    ("a smaller hint", replace(with_input(spec=SIZED), symbols=(Symbol("s0", 2),)),
     replace(with_input(spec=SIZED), symbols=(Symbol("s0", 9),))),
    ("one step", CASE, with_recipe(two_steps=True)),
    ("no pass", CASE, with_recipe(transform_passes=(Construct("a:P"),))),
    ("no option of a pass", with_recipe(transform_passes=(Construct("a:P"),)),
     with_recipe(transform_passes=(Construct("a:P", (1,)),))),
    ("no option of a partitioner", with_recipe(partitioners=(Construct("a:P"),)),
     with_recipe(partitioners=(Construct("a:P", kwargs=(("k", True),)),))),
    ("no compile config", CASE, with_recipe(compile_config=Construct("a:C"))),
    ("no executorch config", CASE, with_recipe(executorch_config=Construct("a:C"))),
    ("fewer elements", with_input(spec=TensorSpec((1, 3), "float32")), CASE),
    ("fewer axes", with_input(spec=TensorSpec((6,), "float32")), CASE),
    ("float32", CASE, with_input(spec=TensorSpec((2, 3), "bfloat16"))),
    ("contiguous", CASE, with_input(spec=TensorSpec((2, 3), "float32", (1, 2)))),
    ("zeros", CASE, with_input(fill=Fill("ones"))),
    ("ones", with_input(fill=Fill("ones")), with_input(fill=Fill("random"))),
    ("seeded", with_input(fill=Fill("random")), with_input(fill=Fill("literal", values=(1,)))),
    ("literal", with_input(fill=Fill("literal")), with_input(fill=Fill("data", digest="d"))),
    ("an input", CASE, with_input(role="parameter")),
    ("fewer arguments", CASE, with_arguments(1)),
    ("fewer keywords", CASE, with_arguments(k=1)),
    ("plain numbers", with_arguments(1), with_arguments(10000.0)),
    ("one axis from the end", with_arguments(-1), with_arguments(-2)),
    ("numbers before nan", with_arguments(3.5), with_arguments(float("nan"), 1)),
    ("plain dtype", with_arguments(Atom("dtype", "float32")),
     with_arguments(Atom("dtype", "int8"))),
    ("a flat result", CASE, replace(CASE, structure=("list", "*"))),
]  # fmt: skip


@pytest.mark.parametrize(
    ("simpler", "other"), [row[1:] for row in PAIRS], ids=[row[0] for row in PAIRS]
)
def test_what_reads_better_is_simpler(simpler: Case, other: Case) -> None:
    assert sort_key(simpler) < sort_key(other)


@given(cases(), cases())
def test_any_two_cases_compare(one: Case, other: Case) -> None:
    left, right = sort_key(one), sort_key(other)
    assert len(left) == len(right)
    assert all(type(number) is int for number in left)
    assert (left < right) + (left > right) + (left == right) == 1


@given(cases())
def test_operators_count_first_and_names_never_before_numbers(case: Case) -> None:
    assert sort_key(case)[0] == case.operators
    shorter = case.with_graph(replace(case.graph, outputs=case.graph.outputs[:1]))
    assert sort_key(shorter) <= sort_key(case)


@given(cases())
def test_a_case_at_the_end_of_all_attributes_admits_no_simpler_one(case: Case) -> None:
    """Going down always ends: no chain of simpler cases is endless, so no attribute comes back."""
    for delta in ATTRIBUTES:
        steps = 0
        while True:
            changed = (delta.apply(case, [edit]) for edit in delta.edits(case))
            simpler = next((c for c in changed if c and sort_key(c) < sort_key(case)), None)
            if simpler is None:
                break
            case, steps = simpler, steps + 1
            assert steps < 500, delta.NAME


@pytest.mark.parametrize(
    "number", [float("inf"), float("-inf"), float("nan"), 10**30, -0.0, 1e-300]
)
def test_every_number_has_a_weight(number: float) -> None:
    assert argument_weight(number) >= 0
    assert argument_weight((number, (number,))) == 2 * argument_weight(number)
