"""Is a set of calls, cut out, a case of its own with the right boundary?"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from reducer.core.case import Case, Fill, Ref, ScalarSpec, TensorSpec
from reducer.graph.region import backward_cone, extract, module_of
from tests.conformance.generated_cases import cases, problems
from tests.graph.small_cases import F32, call, case, given, names

CHAIN = case(
    (given("x"), given("w", "parameter")),
    (
        call("table", "full", (2, 3), 1, module="head.position"),
        call("a", "sin", "%x", module="body.0"),
        call("b", "add", "%a", "%w", module="body.0"),
        call("c", "mul", "%b", "%table", module="body.1"),
        call("d", "relu", "%c", module="head"),
        call("e", "sin", "%c", module="head"),
    ),
    "%d", "%e",
)  # fmt: skip


def roles(small: Case | None) -> dict[str, str]:
    assert small is not None
    return {item.name: item.role for item in small.graph.inputs}


def outputs(small: Case | None) -> list[object]:
    assert small is not None
    return [output.name for output in small.graph.outputs if isinstance(output, Ref)]


def test_what_it_reads_from_outside_keeps_its_nature() -> None:
    small = extract(CHAIN, ["c"])
    assert names(small) == "c"
    assert roles(small) == {"b": "input", "table": "constant"}
    assert outputs(small) == ["c"]


@pytest.mark.parametrize("role", ["input", "constant", "parameter"])
def test_a_role_can_be_asked_for(role: str) -> None:
    cut = {"b": role, "table": role}
    anchor = {} if role == "input" else {"x": "input"}
    assert roles(extract(CHAIN, ["c"], role)) == {**anchor, **cut}


def test_inputs_of_the_case_stay_what_they_are() -> None:
    assert roles(extract(CHAIN, ["a", "b"])) == {"x": "input", "w": "parameter"}


def test_what_leaves_it_is_returned() -> None:
    assert outputs(extract(CHAIN, ["a", "b", "c"])) == ["c"]
    assert outputs(extract(CHAIN, ["b", "c", "d"])) == ["c", "d"]


def test_calls_keep_their_order_whatever_the_order_of_names() -> None:
    assert names(extract(CHAIN, ["d", "a", "c", "b"])) == "a b c d"


def test_an_input_at_fault_brings_its_readers() -> None:
    small = extract(CHAIN, ["w"])
    assert names(small) == "b"
    assert roles(small)["w"] == "parameter"


def test_an_input_that_is_returned_is_returned_again() -> None:
    made = case((given("x"), given("w", "parameter")), (call("a", "add", "%x", "%w"),), "%a", "%w")
    assert outputs(extract(made, ["w"])) == ["a", "w"]


def test_no_call_at_all_is_no_region() -> None:
    assert extract(CHAIN, []) is None
    assert extract(CHAIN, ["x", "nobody"]) is None


def test_an_assertion_alone_returns_nothing_and_is_no_region() -> None:
    check = call("check", "_assert_scalar", "%x", "x", spec=None)
    assert extract(case((given("x", spec=ScalarSpec("int")),), (check,), "%x"), ["check"]) is None


PARTS = case(
    (given("x"),),
    (
        call("parts", "split", "%x", 1, 0, spec=(F32, F32)),
        call("one", "getitem", "%parts", 0),
        call("two", "getitem", "%parts", 1),
        call("s", "sin", "%one"),
        call("t", "sin", "%two"),
    ),
    "%s", "%t",
)  # fmt: skip


@pytest.mark.parametrize("wanted", [["parts"], ["one"], ["parts", "one", "two"]])
def test_a_list_comes_with_its_items(wanted: list[str]) -> None:
    small = extract(PARTS, wanted)
    assert small is not None
    assert {"parts", "one"} <= set(names(small).split())
    assert problems(small) == []


def test_an_item_that_is_only_read_is_cut() -> None:
    small = extract(PARTS, ["s"])
    assert names(small) == "s"
    assert roles(small) == {"one": "input"}


def test_a_number_from_outside_becomes_an_input() -> None:
    made = case(
        (given("x"),),
        (call("n", "item", "%x", spec=ScalarSpec("int", "u0")), call("m", "scale", "%x", "%n")),
        "%m",
    )
    small = extract(made, ["m"])
    assert small is not None
    [number] = [item for item in small.graph.inputs if item.name == "n"]
    assert (number.spec, number.value) == (ScalarSpec("int"), 1)


def test_an_assertion_about_its_values_comes_along() -> None:
    made = case(
        (given("x"),),
        (
            call("n", "item", "%x", spec=ScalarSpec("int", "u0")),
            call("ok", "operator:ge", "%n", 0, spec=ScalarSpec("bool")),
            call("check", "_assert_scalar", "%ok", "n >= 0", spec=None),
            call("m", "scale", "%x", "%n"),
        ),
        "%m",
    )
    assert names(extract(made, ["n", "m"])) == "n ok check m"


def test_sizes_that_are_not_inputs_become_numbers() -> None:
    made = case(
        (given("x"),),
        (call("a", "sin", "%x", spec=TensorSpec(("u0", 3), "float32")), call("b", "relu", "%a")),
        "%b",
    )
    small = extract(made, ["b"])
    assert small is not None
    [cut] = [item for item in small.graph.inputs if item.name == "a"]
    assert cut.spec == TensorSpec((2, 3), "float32")
    assert cut.fill == Fill("random")


def test_a_nested_structure_is_not_kept() -> None:
    small = extract(replace(CHAIN, structure=("list", "*", "*")), ["c"])
    assert small is not None
    assert small.structure is None


def test_the_backward_cone_is_calls_alone() -> None:
    assert backward_cone(CHAIN, ["c"]) == {"table", "a", "b", "c"}
    assert backward_cone(CHAIN, ["x"]) == set()


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (["a"], {"a", "b"}),
        (["a", "c"], {"a", "b", "c"}),
        (["d"], {"d", "e", "table"}),  # a submodule's calls are its own
        (["a", "d"], {"table", "a", "b", "c", "d", "e"}),
        (["x"], set()),
    ],
)
def test_the_innermost_common_module_is_found(wanted: list[str], found: set[str]) -> None:
    assert module_of(CHAIN, wanted) == found


@for_all(cases(), st.data())
def test_any_region_of_any_case_is_nothing_or_sound(made: Case, data: st.DataObject) -> None:
    every = [node.name for node in made.graph.nodes] + [item.name for item in made.graph.inputs]
    wanted = data.draw(st.lists(st.sampled_from(every), unique=True, max_size=5))
    role = data.draw(st.sampled_from([None, "input", "constant", "parameter"]))
    small = extract(made, wanted, role)
    if small is not None:
        assert problems(small) == []
        assert small.operators <= made.operators
        assert {node.name for node in small.graph.nodes} <= {n.name for n in made.graph.nodes}
