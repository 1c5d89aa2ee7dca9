"""Do changes of sizes and ranks reach all that has to change with them?"""

from __future__ import annotations

import pytest

from reducer.core.case import Case, ScalarSpec, TensorSpec
from reducer.core.delta import Delta
from reducer.deltas import find_delta
from tests.graph.small_cases import call, case, given


def edited(some: Case, delta: Delta, what: str) -> Case:
    [edit] = [edit for edit in delta.edits(some) if edit.what == what]
    found = delta.apply(some, [edit])
    assert found is not None
    return found


def shapes(some: Case) -> dict[str, tuple[object, ...]]:
    return {
        item.name: item.spec.shape
        for item in some.graph.inputs
        if isinstance(item.spec, TensorSpec)
    }


def test_numbers_in_arithmetic_on_symbols_are_sizes() -> None:
    whole = ScalarSpec("int", "u0")
    some = case(
        (given("x", spec=TensorSpec((64, 4), "float32")),),
        (
            call("n", "item", "%x", spec=whole),
            call("end", "operator:add", "%n", 4, spec=ScalarSpec("int", "u0 + 4")),
            call("bound", "operator:le", "%n", 60, spec=ScalarSpec("bool", "u0 <= 60")),
        ),
        "%end",
    )
    smaller = edited(some, find_delta("sizes"), "size 4 -> 1")
    assert [node.args[1:] for node in smaller.graph.nodes] == [(), (1,), (60,)]
    assert shapes(smaller) == {"x": (64, 1)}
    assert edited(some, find_delta("sizes"), "size 60 -> 2").graph.nodes[2].args[1] == 2


@pytest.mark.parametrize(
    ("shape", "what", "left"),
    [
        ((64, 1), "every tensor has one dimension", (64,)),
        ((1, 4, 1), "every tensor has one dimension", (4,)),
        ((2, 3), "every tensor has one dimension", (3,)),
        ((1, 1, 1), "every tensor has one dimension", (1,)),
        ((2, 1, 3), "x has one dimension less", (2, 3)),
        ((1, 4, 1), "x has one dimension less", (4, 1)),
        ((2, 3, 4), "x has one dimension less", (3, 4)),
    ],
)
def test_dimensions_of_size_one_go_first(
    shape: tuple[int, ...], what: str, left: tuple[int, ...]
) -> None:
    some = case((given("x", spec=TensorSpec(shape, "float32")),), (call("a", "sin", "%x"),), "%a")
    assert shapes(edited(some, find_delta("ranks"), what)) == {"x": left}
