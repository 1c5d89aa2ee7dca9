"""Does pruning keep all that counts, and only that?"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given as for_all

from reducer.core.case import Case, Graph, ScalarSpec, Structure, Symbol, TensorSpec
from reducer.core.recipe import Construct, PassCall, Recipe
from reducer.graph.prune import ANCHOR, prune, with_outputs
from tests.conformance.generated_cases import cases, problems
from tests.graph.small_cases import F32, call, case, given, graph, names

NUMBER = ScalarSpec("int", "u0")
CHECKED = case(
    (given("x"), given("y")),
    (
        call("n", "item", "%x", spec=NUMBER),
        call("low", "operator:ge", "%n", 0, spec=ScalarSpec("bool")),
        call("check", "_assert_scalar", "%low", "n >= 0", spec=None),
        call("scaled", "scale", "%y", "%n"),
        call("plain", "sin", "%y"),
    ),
    "%scaled", "%plain",
)  # fmt: skip


@for_all(cases())
def test_a_pruned_case_is_sound_and_pruning_again_changes_nothing(made: Case) -> None:
    once = prune(made)
    assert problems(once) == []
    assert prune(once) == once


@for_all(cases())
def test_effects_and_outputs_stay(made: Case) -> None:
    kept = {node.name for node in prune(made).graph.nodes}
    writes = {
        n.name for n in made.graph.nodes if n.target in ("aten.add_.Tensor", "aten.copy_.default")
    }
    assert writes <= kept
    assert prune(made).graph.outputs == made.graph.outputs


def test_dead_calls_go_and_unread_inputs_with_them() -> None:
    made = case(
        (given("x"), given("w", "parameter")),
        (call("a", "sin", "%x"), call("b", "sin", "%w")),
        "%a",
    )
    assert names(prune(made)) == "a"
    assert [item.name for item in prune(made).graph.inputs] == ["x"]


def test_an_assertion_stays_while_its_bound_is_computed() -> None:
    assert names(prune(with_outputs(CHECKED, [0]))) == "n low check scaled"


def test_an_assertion_goes_with_what_it_is_about() -> None:
    pruned = prune(with_outputs(CHECKED, [1]))
    assert names(pruned) == "plain"
    assert [item.name for item in pruned.graph.inputs] == ["y"]


def test_an_assertion_can_be_dropped() -> None:
    assert names(prune(CHECKED, drop_effects=["check"])) == "n scaled plain"


def test_the_last_input_stays_as_anchor() -> None:
    made = case((given("x"), given("y")), (call("f", "full", (1,), 1),), "%f")
    assert [item.name for item in prune(made).graph.inputs] == ["x"]
    assert prune(made, anchor=False).graph.inputs == ()


def test_a_graph_that_a_pass_alone_is_run_on_needs_no_anchor() -> None:
    alone = Recipe(alone=PassCall(Construct("package:Pass")))
    made = case((given("x"),), (call("f", "full", (1,), 1),), "%f")
    assert prune(replace(made, recipe=alone)).graph.inputs == ()


def test_an_anchor_is_made_where_there_is_none_under_a_name_of_its_own() -> None:
    made = case((given("x", "parameter"),), (call("x_1", "sin", "%x"),), "%x_1")
    assert [(i.name, i.role) for i in prune(made).graph.inputs] == [
        ("x_2", "input"),
        ("x", "parameter"),
    ]
    assert prune(made).graph.inputs[0].spec == ANCHOR.spec


CHAIN = case(
    (given("x"), given("b", "buffer")),
    (call("t", "sin", "%x"), call("w1", "add_", "%b", "%t"), call("w2", "add_", "%w1", "%x"),
     call("r", "relu", "%b")),
    "%r",
)  # fmt: skip


def test_a_dropped_write_goes_with_what_only_it_needed() -> None:
    assert names(prune(CHAIN, drop_effects=["w2"])) == "t w1 r"


def test_a_dropped_write_stays_while_its_value_is_read() -> None:
    pruned = prune(CHAIN, drop_effects=["w1"])
    assert names(pruned) == "t w1 w2 r"
    assert problems(pruned) == []


def test_dropped_writes_go_together() -> None:
    assert names(prune(CHAIN, drop_effects=["w1", "w2"])) == "r"


def test_what_nothing_mentions_goes() -> None:
    inner = graph("i", (call("j", "sin", "%i"),), "%j")
    made = replace(
        case((given("x"),), (call("a", "relu", "%x"),), "%a", g=inner),
        symbols=(Symbol("s0", 3), Symbol("s1", 3)),
    )
    made = made.with_graph(
        replace(made.graph, inputs=(given(spec=TensorSpec(("2*s1", 3), "float32")),))
    )
    pruned = prune(made)
    assert pruned.subgraphs == ()
    assert [symbol.name for symbol in pruned.symbols] == ["s1"]
    assert list(pruned.schemas) == ["aten.relu.default"]


def test_graphs_within_graphs_stay() -> None:
    deep = graph("p", (call("q", "sin", "%p"),), "%q")
    inner = graph("i", (call("c", "cond", "%i", "@deep", "@deep", ("%i",), spec=(F32,)),), "%c")
    made = case(
        (given("x"),), (call("a", "cond", "%x", "@inner", "@inner", ("%x",)),), "%a",
        inner=inner, deep=deep,
    )  # fmt: skip
    assert dict(prune(made).subgraphs).keys() == {"inner", "deep"}


@pytest.mark.parametrize(
    ("structure", "kept", "left"),
    [
        (None, [1], None),
        (("tuple", "*", ("list", "*", "*")), [0, 1, 2], ("tuple", "*", ("list", "*", "*"))),
        (("tuple", "*", ("list", "*", "*")), [0], ("tuple", "*")),
        (("tuple", "*", ("list", "*", "*")), [2], ("tuple", ("list", "*"))),
        (("dict:a,b,c", "*", "*", "*"), [0, 2], ("dict:a,c", "*", "*")),
        (("dict:a,b", ("list", "*", "*"), "*"), [2], ("dict:b", "*")),
        (("named:torch.return_types.max", "*", "*", ), [1], ("tuple", "*")),
    ],
)  # fmt: skip
def test_the_structure_loses_what_is_no_longer_returned(
    structure: Structure, kept: list[int], left: Structure
) -> None:
    made = case((given("x"), given("y"), given("z")), (), "%x", "%y", "%z")
    if structure is not None and structure[0] == "named:torch.return_types.max":
        made = made.with_graph(Graph(made.graph.inputs, (), made.graph.outputs[:2]))
    made = replace(made, structure=structure)
    assert with_outputs(made, kept).structure == left
    assert len(with_outputs(made, kept).graph.outputs) == len(kept)
