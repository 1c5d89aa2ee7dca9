"""Is what is written down read back as it was, bit by bit and type by type?"""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducer.core import text
from reducer.core.case import Argument, Atom, Case, Fill, GraphRef, Node, Ref
from reducer.core.errors import BadInput
from reducer.core.recipe import Construct
from reducer.core.signature import ChainLink, Failure, Frame
from reducer.core.stage import Stage
from reducer.core.verdict import Verdict
from reducer.core.wire import Attempt, Death, JudgeJob
from tests.conformance.generated_cases import cases, recipes

_LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.builds(Ref, st.text(max_size=3)),
    st.builds(GraphRef, st.text(max_size=3)),
    st.builds(Atom, st.just("dtype"), st.sampled_from(["float32", "int8"])),
)
ARGUMENTS: st.SearchStrategy[Argument] = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=8
)


def identical(left: Any, right: Any) -> bool:
    """Equal in type as well as in value, where nan is nan and -0.0 is not 0.0."""
    if type(left) is not type(right):
        return False
    if isinstance(left, float):
        return repr(left) == repr(right)
    if isinstance(left, complex):
        return identical(left.real, right.real) and identical(left.imag, right.imag)
    if isinstance(left, tuple):
        return len(left) == len(right) and all(map(identical, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(identical(left[k], right[k]) for k in left)
    if is_dataclass(left):
        return all(
            identical(getattr(left, item.name), getattr(right, item.name)) for item in fields(left)
        )
    return bool(left == right)


@given(cases())
def test_cases_come_back_as_they_were(case: Case) -> None:
    assert identical(text.loads(text.dumps(case)), case)


@given(ARGUMENTS)
def test_arguments_come_back_with_their_types(argument: Argument) -> None:
    node = Node("n", "t", (argument,), (("key", argument),))
    assert identical(text.loads(text.dumps(node)), node)


@given(st.complex_numbers() | st.floats() | st.integers() | st.booleans())
def test_numbers_of_a_literal_fill_come_back_with_their_types(number: complex) -> None:
    fill = Fill("literal", values=(number,))
    assert identical(text.loads(text.dumps(fill)), fill)


@given(recipes())
def test_recipes_come_back_with_bytes_and_nested_calls(recipe: object) -> None:
    assert identical(text.loads(text.dumps(recipe)), recipe)


@pytest.mark.parametrize(
    "value",
    [
        math.nan, math.inf, -math.inf, -0.0, 5e-324, 1e308, 2**70, complex(math.nan, -0.0),
        b"", bytes(range(256)), "\ud800", "\0", "ü\n", (), ((),), ((1, True, 1.0), (None,)),
        Construct("a:b", (b"x",), (("k", ((1,),)),), call=False),
        Death("signal", "SIGSEGV", Stage.EXPORT, "out"),
        Attempt(Failure(Stage.PARTITION, (ChainLink("E", "m", (Frame("a", "f", 3),)),), ("P",)),
                seconds=(("export", 0.5),)),
        *Verdict,
        *Stage,
    ],
    ids=repr,
)  # fmt: skip
def test_awkward_values_come_back(value: object) -> None:
    assert identical(text.loads(text.dumps(value)), value)


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, True), (0, False), (1, 1.0), (0.0, -0.0), ("1", 1), ((), None), (b"a", "a"), (1j, "1j")],
)
def test_values_that_python_calls_equal_have_texts_of_their_own(one: Any, other: Any) -> None:
    assert text.dumps(one) != text.dumps(other)
    assert text.digest(Node("n", "t", (one,))) != text.digest(Node("n", "t", (other,)))


@given(cases())
def test_a_text_is_one_line_of_ascii_without_nan(case: Case) -> None:
    written = text.dumps(JudgeJob(case, "/data"))
    assert written.isascii()
    assert "\n" not in written
    assert "NaN" not in written
    assert "Infinity" not in written


def test_a_digest_does_not_change_with_time() -> None:
    node = Node("n", "aten.sin.default", (Ref("x"), 1, 1.0, True, (None, -0.0)), (("k", "v"),))
    assert text.digest(node) == "cc6fa206a77281277a3c14b30fef996246b27dccc4423e8e36b60eef88a26525"


def test_fields_at_their_defaults_are_left_out() -> None:
    assert text.dumps(Node("n", "t")) == '{"_":"Node","name":"n","target":"t"}'


@pytest.mark.parametrize(
    "written",
    [
        "", "{", "nonsense", '{"_":"Nobody"}', '{"a":1}', '{"_":"Node"}', '{"_":["Node"]}',
        '{"_":"Node","name":"n","target":"t","colour":"red"}', '{"_":"Stage","v":"no stage"}',
        '{"_":"complex","v":[1]}', '{"_":"float"}', '{"_":"map","v":[1]}', "[" * 100_000,
        b"\xff\xfe",
    ],
    ids=lambda written: repr(written[:30]),
)  # fmt: skip
def test_other_text_is_refused_with_a_message(written: str | bytes) -> None:
    with pytest.raises(BadInput) as refused:
        text.loads(written)
    assert refused.value.message


@pytest.mark.parametrize("value", [object(), {1, 2}, Ref, lambda: None])
def test_what_is_no_noun_cannot_be_written(value: object) -> None:
    with pytest.raises(TypeError, match="no text form"):
        text.dumps(value)


def test_a_name_belongs_to_one_class() -> None:
    from dataclasses import dataclass

    from reducer.core.text import register

    @dataclass(frozen=True)
    class Case:
        pass

    with pytest.raises(TypeError, match=r"reducer\.core\.case and .* both name a noun Case"):
        register(Case)
