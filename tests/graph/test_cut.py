"""Can a value come from elsewhere, and does what computed it go?"""

from __future__ import annotations

import pytest

from reducer.core.case import Fill, Input, ScalarSpec, Spec, Symbol, TensorSpec
from reducer.graph.cut import ROLES, as_input, bypass, cut, natural_role, static_spec, substitutes
from reducer.graph.topology import topology
from tests.conformance.generated_cases import problems
from tests.graph.small_cases import F32, call, case, given, graph, names, reads

CHAIN = case(
    (given("x"), given("y", spec=TensorSpec((9,), "float32"))),
    (
        call("f", "full", (2, 3), 1),
        call("a", "sin", "%x"),
        call("b", "add", "%a", "%f"),
        call("c", "relu", "%b"),
    ),
    "%c",
)
EMPTY = case((), ())


@pytest.mark.parametrize("role", ROLES)
def test_what_computed_a_cut_value_goes(role: str) -> None:
    small = cut(CHAIN, {"b": role})
    assert small is not None
    assert names(small) == "c"
    [made] = [item for item in small.graph.inputs if item.name == "b"]
    assert made == Input("b", role, F32, Fill("random"), made=True)


def test_cutting_several_cuts_the_earlier_ones_away() -> None:
    small = cut(CHAIN, {"a": "input", "c": "input"})
    assert small is not None
    assert names(small) == ""
    assert [item.name for item in small.graph.inputs] == ["c"]


def test_a_list_cannot_be_cut() -> None:
    made = case((given("x"),), (call("l", "split", "%x", 1, spec=(F32,)),), "%x")
    assert cut(made, {"l": "input"}) is None


@pytest.mark.parametrize("dtype", ["int64", "bool", "uint8"])
def test_only_floating_values_can_be_parameters(dtype: str) -> None:
    spec = TensorSpec((1,), dtype)
    assert as_input("n", spec, "parameter", EMPTY) is None
    assert as_input("n", spec, "constant", EMPTY) is not None


@pytest.mark.parametrize(("kind", "value"), [("int", 1), ("float", 1.0), ("bool", True)])
def test_a_number_becomes_an_input_of_its_type(kind: str, value: object) -> None:
    made = as_input("n", ScalarSpec(kind, "u0"), "input", EMPTY)
    assert made is not None
    assert type(made.value) is type(value)
    assert made.value == value
    assert made.spec == ScalarSpec(kind)


@pytest.mark.parametrize("role", ["constant", "parameter"])
def test_a_number_is_no_attribute(role: str) -> None:
    assert as_input("n", ScalarSpec("int"), role, EMPTY) is None


def test_the_nature_of_a_value_is_whether_the_caller_decides_it() -> None:
    shape = topology(CHAIN)
    assert [natural_role(shape, name) for name in "fabc"] == ["constant", "input", "input", "input"]


@pytest.mark.parametrize(
    ("shape", "fixed"),
    [((2, "s0"), (2, "s0")), (("s0*u0", 3), (2, 3)), (("u0",), (2,)), ((4,), (4,))],
)
def test_only_sizes_of_known_symbols_stay_dynamic(
    shape: tuple[int | str, ...], fixed: object
) -> None:
    assert static_spec(TensorSpec(shape, "int8"), {"s0"}).shape == fixed


def test_a_constant_has_no_dynamic_sizes() -> None:
    made = case((given("x", spec=TensorSpec(("s0",), "float32")),), ())
    from dataclasses import replace

    made = replace(made, symbols=(Symbol("s0", 5),))
    spec = TensorSpec(("s0",), "float32")
    shapes = []
    for role in ("input", "constant"):
        item = as_input("n", spec, role, made)
        assert item is not None
        assert isinstance(item.spec, TensorSpec)
        shapes.append(item.spec.shape)
    assert shapes == [("s0",), (2,)]


def test_readers_of_a_bypassed_value_read_the_other() -> None:
    from reducer.core.case import Ref

    small = bypass(CHAIN, "b", Ref("a"))
    assert names(small) == "a c"
    assert reads(small, "c") == ["a"]


def test_an_output_can_be_bypassed() -> None:
    from reducer.core.case import Ref

    assert bypass(CHAIN, "c", Ref("x")).graph.outputs == (Ref("x"),)


def test_a_bypassed_write_goes_even_if_its_memory_is_read_later() -> None:
    from reducer.core.case import Ref

    made = case(
        (given("x"), given("b", "buffer")),
        (call("w", "add_", "%b", "%x"), call("r", "sin", "%b"), call("s", "relu", "%w")),
        "%r", "%s",
    )  # fmt: skip
    small = bypass(made, "w", Ref("b"))
    assert names(small) == "r s"
    assert problems(small) == []


def test_a_value_within_control_flow_can_be_bypassed_and_its_inputs_stay() -> None:
    from reducer.core.case import Ref

    inner = graph("i j", (call("p", "sin", "%i"), call("q", "add", "%p", "%j")), "%q")
    made = case((given("x"),), (call("n", "cond", "%x", "@g", "@g", ("%x", "%x")),), "%n", g=inner)
    small = bypass(made, "q", Ref("p"), "g")
    assert names(small.subgraph("g")) == "p"
    assert [item.name for item in small.subgraph("g").inputs] == ["i", "j"]


def test_substitutes_have_equal_shape_and_dtype_and_come_from_near_to_far() -> None:
    found = {name: list(others) for name, others in substitutes(topology(CHAIN))}
    assert found["c"] == ["b", "x", "a", "f"]
    assert found["b"] == ["a", "f", "x"]
    assert found["f"] == ["x"]


@pytest.mark.parametrize("spec", [TensorSpec((2, 3), "int64"), TensorSpec((3, 2), "float32"), None])
def test_another_shape_or_dtype_is_no_substitute(spec: Spec) -> None:
    made = case((given("x"),), (call("n", "sin", "%x", spec=spec),), "%n")
    assert [list(others) for name, others in substitutes(topology(made)) if name == "n"] == [[]]
