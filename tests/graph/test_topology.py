"""Does a value's cone hold all that made it, writes to its memory included?"""

from __future__ import annotations

import pytest

from reducer.core.case import Node, ScalarSpec
from reducer.graph.topology import Topology, output_names, topology
from tests.graph.small_cases import F32, call, case, given

WRITTEN = case(
    (given("x"), given("b", "buffer"), given("w", "parameter")),
    (
        call("before", "sin", "%b"),
        call("view", "view", "%b", (3, 2)),
        call("add_", "add_", "%view", "%x"),
        call("after", "sin", "%b"),
        call("other", "sin", "%w"),
    ),
    "%before", "%after", "%other",
)  # fmt: skip


def cone(*names: str) -> set[str]:
    return topology(WRITTEN).cone(names)


def test_a_read_depends_on_earlier_writes_through_a_view() -> None:
    assert cone("after") == {"after", "b", "add_", "view", "x"}


def test_a_read_does_not_depend_on_later_writes() -> None:
    assert cone("before") == {"before", "b"}


def test_other_memory_is_another_matter() -> None:
    assert cone("other") == {"other", "w"}


def test_a_cone_of_nothing_or_of_unknown_names_is_empty() -> None:
    assert cone() == cone("nobody") == set()


@pytest.mark.parametrize(
    ("target", "written", "viewed"),
    [
        ("add_", ["x"], ["x"]), ("copy_", ["x"], ["x"]), ("view", [], ["x"]), ("alias", [], ["x"]),
        ("split", [], ["x"]), ("add", [], []), ("max", [], []), ("getitem", [], ["x"]),
    ],
)  # fmt: skip
def test_the_schema_says_what_is_written_and_what_is_a_view(
    target: str, written: list[str], viewed: list[str]
) -> None:
    node = call("n", target, "%x", "%y")
    shape = topology(case((given("x"), given("y")), (node,), "%n"))
    assert list(shape.written(node)) == written
    assert list(shape.viewed(node)) == viewed


def test_items_of_a_list_of_views_share_its_memory() -> None:
    shape = topology(
        case(
            (given("x"),),
            (
                call("parts", "split", "%x", 1, 0, spec=(F32, F32)),
                call("part", "getitem", "%parts", 0),
                call("write", "add_", "%part", 1),
                call("read", "sin", "%x"),
            ),
            "%read",
        )
    )
    assert "write" in shape.cone(["read"])


def test_a_write_of_a_computed_value_leaves_its_source_alone() -> None:
    shape = topology(
        case(
            (given("x"),),
            (call("s", "sin", "%x"), call("write", "add_", "%s", 1), call("read", "relu", "%x")),
            "%read",
        )
    )
    assert shape.cone(["read"]) == {"read", "x"}


def test_effects_are_writes_and_assertions() -> None:
    checked = case(
        (given("x"),),
        (
            call("n", "item", "%x", spec=ScalarSpec("int", "u0")),
            call("ok", "operator:ge", "%n", 0, spec=ScalarSpec("bool")),
            call("check", "_assert_scalar", "%ok", "n >= 0", spec=None),
            call("write", "copy_", "%x", "%x"),
        ),
        "%x",
    )
    shape = topology(checked)
    assert shape.effects == ("check", "write")
    assert [name for name in shape.effects if shape.is_assertion(shape.nodes[name])] == ["check"]
    assert shape.assertions_about({"n"}) == {"check", "ok"}
    assert shape.assertions_about(set()) == set()


def test_what_depends_on_the_caller_is_found_and_the_rest_is_constant() -> None:
    made = case(
        (given("x"), given("w", "parameter")),
        (
            call("f", "full", (2, 3), 1),
            call("fw", "add", "%f", "%w"),
            call("fx", "add", "%fw", "%x"),
            call("fxx", "sin", "%fx"),
        ),
        "%fxx",
    )
    assert topology(made).from_outside == {"x", "fx", "fxx"}


def test_users_and_specs_are_found_by_name() -> None:
    shape = topology(WRITTEN)
    assert sorted(shape.users("b")) == ["after", "before", "view"]
    assert shape.spec("x") == shape.spec("after") == F32
    with pytest.raises(KeyError):
        shape.spec("nobody")


def test_a_call_without_a_schema_is_no_effect() -> None:
    node = Node("n", "no.such.operator")
    shape = Topology(case((), (node,), "%n").graph, {})
    assert shape.schema(node) is None
    assert shape.effects == ()


def test_output_names_repeat() -> None:
    assert output_names(case((given(),), (), "%x", "%x").graph) == ["x", "x"]
