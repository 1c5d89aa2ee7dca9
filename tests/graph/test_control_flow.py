"""Can control flow be passed fewer values, or be replaced by one of its graphs?"""

from __future__ import annotations

import pytest

from reducer.core.case import Case, Node, Ref, ScalarSpec, TensorSpec
from reducer.graph.control_flow import drop_operand, inline, operand_slots
from reducer.graph.prune import prune
from tests.conformance.generated_cases import problems
from tests.graph.small_cases import F32, call, case, given, graph, names, reads

BOOL = TensorSpec((), "bool")

COND = case(
    (given("x"), given("y"), given("z")),
    (
        call("p", "any", "%x", spec=BOOL),
        call("c", "cond", "%p", "@yes", "@no", ("%x", "%y", "%z"), spec=(F32,)),
        call("r", "getitem", "%c", 0),
        call("s", "sin", "%r"),
    ),
    "%s",
    yes=graph("a b u", (call("t", "add", "%a", "%b"),), "%t"),
    no=graph("d e v", (call("f", "relu", "%d"),), "%f"),
)

LOOP = case(
    (given("x"), given("y"), given("w", "parameter")),
    (
        call("l", "while_loop", "@test", "@body", ("%x", "%y"), ("%w",), spec=(F32, F32)),
        call("first", "getitem", "%l", 0),
        call("second", "getitem", "%l", 1),
        call("s", "sin", "%second"),
    ),
    "%s",
    test=graph("a b c", (call("q", "any", "%b", spec=BOOL),), "%q"),
    body=graph("d e f", (call("g", "sin", "%d"), call("h", "add", "%e", "%f")), "%g", "%h"),
)


def loop(found: Case, name: str = "l") -> Node:
    return next(node for node in found.graph.nodes if node.name == name)


def inputs_of(found: Case, name: str) -> list[str]:
    return [item.name for item in found.subgraph(name).inputs]


def test_operands_are_listed_in_the_order_of_the_graphs_inputs() -> None:
    assert operand_slots(loop(COND, "c")) == [(3, 0), (3, 1), (3, 2)]
    assert operand_slots(loop(LOOP)) == [(2, 0), (2, 1), (3, 0)]


def test_an_operand_that_no_graph_reads_goes_from_all() -> None:
    small = drop_operand(COND, "c", 2)
    assert small is not None
    assert problems(small) == []
    assert loop(small, "c").args[3] == (Ref("x"), Ref("y"))
    assert inputs_of(small, "yes") == ["a", "b"]
    assert inputs_of(small, "no") == ["d", "e"]


@pytest.mark.parametrize("index", [0, 1])
def test_an_operand_that_some_graph_reads_stays(index: int) -> None:
    assert drop_operand(COND, "c", index) is None


def test_a_carried_value_goes_from_the_results_and_later_ones_move_up() -> None:
    small = drop_operand(LOOP, "l", 0)
    assert small is not None
    assert problems(prune(small)) == []
    assert names(small) == "l second s"
    assert next(n for n in small.graph.nodes if n.name == "second").args == (Ref("l"), 0)
    assert loop(small).args[2:] == ((Ref("y"),), (Ref("w"),))
    assert loop(small).spec == (F32,)
    assert small.subgraph("body").outputs == (Ref("h"),)
    assert names(small.subgraph("body")) == "h"
    assert [inputs_of(small, name) for name in ("test", "body")] == [["b", "c"], ["e", "f"]]


def test_a_carried_value_that_the_condition_reads_stays() -> None:
    assert drop_operand(LOOP, "l", 1) is None


def test_a_carried_value_whose_result_is_read_stays() -> None:
    read = LOOP.with_graph(
        type(LOOP.graph)(LOOP.graph.inputs, LOOP.graph.nodes, (Ref("s"), Ref("first")))
    )
    assert drop_operand(read, "l", 0) is None


def test_a_further_operand_that_is_read_stays_and_an_idle_one_goes() -> None:
    assert drop_operand(LOOP, "l", 2) is None
    body = graph("d e f", (call("h", "relu", "%e"),), "%d", "%h")
    idle = case(LOOP.graph.inputs, LOOP.graph.nodes, "%s", test=LOOP.subgraph("test"), body=body)
    small = drop_operand(idle, "l", 2)
    assert small is not None
    assert loop(small).args[2:] == ((Ref("x"), Ref("y")), ())
    assert problems(small) == []


def test_the_last_carried_value_stays() -> None:
    alone = case(
        (given("x"),),
        (call("l", "while_loop", "@test", "@body", ("%x",), (), spec=(F32,)),
         call("r", "getitem", "%l", 0)),
        "%r",
        test=graph("a", (call("q", "full", (), True, spec=BOOL),), "%q"),
        body=graph("d", (call("g", "full", (2, 3), 1),), "%g"),
    )  # fmt: skip
    assert drop_operand(alone, "l", 0) is None


def test_an_assertion_in_a_graph_keeps_what_it_reads() -> None:
    checked = graph(
        "a b u",
        (call("n", "item", "%u", spec=ScalarSpec("int")),
         call("check", "_assert_scalar", "%n", "n", spec=None), call("t", "add", "%a", "%b")),
        "%t",
    )  # fmt: skip
    made = case(COND.graph.inputs, COND.graph.nodes, "%s", yes=checked, no=COND.subgraph("no"))
    assert drop_operand(made, "c", 2) is None


@pytest.mark.parametrize(
    ("which", "calls", "inputs"), [(0, "t s", ["x", "y"]), (1, "f s", ["x"])], ids=["yes", "no"]
)
def test_a_branch_stands_in_place_of_the_condition(
    which: int, calls: str, inputs: list[str]
) -> None:
    inlined = inline(COND, "c", which)
    assert inlined is not None
    small = prune(inlined)
    assert problems(small) == []
    assert names(small) == calls
    assert [item.name for item in small.graph.inputs] == inputs
    assert reads(small, "s") == [calls.split(maxsplit=1)[0]]
    assert small.subgraphs == ()


def test_a_loops_body_stands_in_place_of_the_loop() -> None:
    inlined = inline(LOOP, "l", 1)
    assert inlined is not None
    small = prune(inlined)
    assert problems(small) == []
    assert names(small) == "h s"
    assert reads(small, "h") == ["y", "w"]


def test_a_loops_condition_does_not_give_what_the_loop_does() -> None:
    assert inline(LOOP, "l", 0) is None


def test_a_graph_that_returns_what_it_was_given_is_its_operand() -> None:
    same = graph("a b u", (), "%u")
    made = case(COND.graph.inputs, COND.graph.nodes, "%s", yes=same, no=COND.subgraph("no"))
    inlined = inline(made, "c", 0)
    assert inlined is not None
    assert reads(inlined, "s") == ["z"]


def test_a_mapped_graph_works_on_slices_and_cannot_be_inlined() -> None:
    made = case(
        (given("x"),),
        (call("m", "higher_order.map_impl", "@g", ("%x",), (), spec=(F32,)),
         call("r", "getitem", "%m", 0)),
        "%r",
        g=graph("a", (call("b", "sin", "%a"),), "%b"),
    )  # fmt: skip
    assert operand_slots(loop(made, "m")) == [(1, 0)]
    assert inline(made, "m", 0) is None


def test_an_operator_of_unknown_layout_is_inlined_if_its_operands_fit() -> None:
    body = graph("a", (call("b", "sin", "%a"),), "%b")
    calls = (call("w", "higher_order.wrap", "@g", "%x"), call("s", "relu", "%w"))
    made = case((given("x"),), calls, "%s", g=body)
    inlined = inline(made, "w", 0)
    assert inlined is not None
    assert names(prune(inlined)) == "b s"
    more = call("w", "higher_order.wrap", "@g", "%x", "%x")
    assert inline(case((given("x"),), (more, calls[1]), "%s", g=body), "w", 0) is None
