"""What is left of a program when calls are masked?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from reducer.core.case import Case, Graph, GraphRef, Input, Node, Ref, TensorSpec
from reducer.core.recipe import Recipe
from reducer.workflows.further import without
from reducer.workflows.output import OutputFolder

SPEC = TensorSpec((2, 3), "float32")
#: As a transposed value has them.
TRANSPOSED = replace(SPEC, stride=(1, 2))


def call(name: str, target: str, *args: object, spec: TensorSpec = SPEC) -> Node:
    return Node(name, target, args, spec=spec)  # type: ignore[arg-type]


def program(*nodes: Node, **parts: object) -> Case:
    graph = Graph((Input("x", "input", SPEC),), nodes, (Ref(nodes[-1].name),))
    return Case(graph, Recipe("portable"), **parts)  # type: ignore[arg-type]


def names(case: Case | None) -> tuple[list[str], list[str]]:
    assert case is not None
    return [i.name for i in case.graph.inputs], [n.name for n in case.graph.nodes]


def test_what_reads_a_masked_value_is_given_it_and_what_only_it_needed_goes() -> None:
    case = program(
        call("a", "aten.sin.default", Ref("x")),
        call("b", "aten.cos.default", Ref("a"), spec=TRANSPOSED),
        call("c", "aten.neg.default", Ref("b")),
    )
    rest = without(case, {"b"})
    # What a gives was asked for by b alone: it is returned.
    assert names(rest) == (["x", "b"], ["a", "c"])
    given = rest.graph.inputs[-1] if rest else None
    assert given is not None
    assert (given.role, given.spec) == ("input", SPEC)  # no strides that no input may have


def test_nothing_else_is_left() -> None:
    case = program(call("a", "aten.sin.default", Ref("x")))
    assert without(case, {"a"}) is None
    assert without(case, {"other"}) == case


def test_a_call_in_a_branch_takes_the_whole_operator_with_it() -> None:
    inner = Graph(
        (Input("y", "input", SPEC),), (call("b", "aten.cos.default", Ref("y")),), (Ref("b"),)
    )
    case = program(
        call("a", "aten.sin.default", Ref("x")),
        call("w", "higher_order.cond", True, GraphRef("g"), GraphRef("g"), (Ref("a"),)),
        call("c", "aten.neg.default", Ref("w")),
        subgraphs=(("g", inner),),
    )
    rest = without(case, {"b"})
    assert names(rest) == (["x", "w"], ["a", "c"])
    assert rest is not None
    assert rest.subgraphs == ()


def test_parts_share_what_the_run_needs(tmp_path: Path) -> None:
    whole = OutputFolder(tmp_path)
    part = whole.part(2)
    assert part.repro == tmp_path / "2" / "repro.py"
    assert (part.data, part.store, part.log) == (whole.data, whole.store, whole.log)


def test_parts_are_set_aside_with_the_rest_however_many_there_are(tmp_path: Path) -> None:
    whole = OutputFolder(tmp_path)
    for folder in (whole.part(2), whole.part(12)):
        folder.repro.write_text("")
    earlier = whole.set_aside()
    assert earlier is not None
    assert {path.name for path in earlier.iterdir()} == {"2", "12"}
    assert [path.name for path in tmp_path.iterdir()] == ["state"]
