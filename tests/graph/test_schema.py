"""Does the schema parser read what torch prints?"""

from __future__ import annotations

import pytest

from reducer.core.case import Node, Ref
from reducer.graph.schema import parse_schema

ADD_ = "aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)"
CONV = (
    "aten::conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], "
    "SymInt[2] padding=[0, 0], SymInt groups=1) -> Tensor"
)


def test_in_place_operator() -> None:
    schema = parse_schema(ADD_)
    assert (schema.name, schema.overload) == ("aten::add_", "Tensor")
    assert schema.writes
    assert schema.returned_argument is schema.arguments[0]
    assert [item.kwarg_only for item in schema.arguments] == [False, False, True]
    assert schema.arguments[0].alias == schema.returns[0].alias == ("a",)


def test_views_share_memory_without_writing() -> None:
    schema = parse_schema(
        "aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]"
    )
    assert schema.returns[0].type == "Tensor[]"
    assert schema.returns[0].alias == schema.arguments[0].alias == ("a",)
    assert not schema.writes


def test_several_and_no_results() -> None:
    several = parse_schema("aten::max.dim(Tensor self, int dim) -> (Tensor values, Tensor indices)")
    assert [item.name for item in several.returns] == ["values", "indices"]
    none = parse_schema("aten::_assert_scalar(Scalar self, str assert_msg) -> ()")
    assert none.returns == ()


@pytest.mark.parametrize(
    ("printed", "value"),
    [
        ("float eps=1.0000000000000001e-05", 1e-05),
        ('str mode="a, b)"', "a, b)"),
        ("int[2] stride=[]", ()),
        ("ScalarType? dtype=None", None),
        ("Layout layout=strided", "strided"),
        ("Scalar lambd=-0.5", -0.5),
        ("bool keepdim=False", False),
    ],
)
def test_defaults(printed: str, value: object) -> None:
    [argument] = parse_schema(f"aten::f({printed}) -> Tensor").arguments
    assert argument.value == value
    assert argument.has_default


def test_a_default_is_recognised() -> None:
    stride = parse_schema(CONV).arguments[3]
    assert stride.length == 2
    assert stride.is_default((1, 1))
    assert not stride.is_default((2, 1))
    groups = parse_schema(CONV).arguments[5]
    assert not groups.is_default(True)


def test_binding_pairs_arguments_with_values() -> None:
    node = Node("c", "aten.conv2d.default", (Ref("x"), Ref("w")), (("groups", 2),))
    assert [(a.name, v) for a, v in parse_schema(CONV).bind(node)] == [
        ("input", Ref("x")),
        ("weight", Ref("w")),
        ("groups", 2),
    ]


@pytest.mark.parametrize("text", ["", "relu", "aten::f(Tensor x", "aten::f(Tensor x) Tensor"])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="schema"):
        parse_schema(text)
