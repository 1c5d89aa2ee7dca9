"""Does every delta keep its promises on every kind of case?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducer import deltas
from reducer.core.case import Atom, Case, Graph, Input, Node, Ref, TensorSpec
from reducer.core.delta import Delta, Edit
from reducer.core.order import sort_key
from reducer.core.recipe import Recipe
from reducer.deltas import ATTRIBUTES, DELTAS, SOURCE, STRUCTURE, find_delta
from tests.conformance.generated_cases import cases, problems

#: Those on sources have tests of their own.
ON_GRAPHS = (*STRUCTURE, *ATTRIBUTES)

each_delta = pytest.mark.parametrize("delta", ON_GRAPHS, ids=lambda delta: delta.NAME)


def first_of_each_element(edits: list[Edit]) -> list[Edit]:
    """The largest set of edits that a delta may be given at once."""
    return list({edit.element: edit for edit in reversed(edits)}.values())


@given(cases())
def test_generated_cases_are_sound(case: Case) -> None:
    assert problems(case) == []


@each_delta
def test_it_says_what_it_is(delta: Delta) -> None:
    assert delta.__name__.rpartition(".")[2].replace("_", "-") == delta.NAME  # type: ignore[attr-defined]
    assert isinstance(delta.TOGETHER, bool)
    for documented in (delta, delta.edits, delta.apply):
        assert (documented.__doc__ or "").strip()


def test_names_are_unique_and_found() -> None:
    assert len({delta.NAME for delta in DELTAS}) == len(DELTAS)
    assert all(find_delta(delta.NAME) is delta for delta in DELTAS)
    assert (*STRUCTURE, *ATTRIBUTES, *SOURCE) == DELTAS
    with pytest.raises(KeyError):
        find_delta("no-such-delta")


def test_every_file_is_in_the_table() -> None:
    from pathlib import Path

    files = {path.stem for path in Path(deltas.__file__).parent.glob("*.py")} - {"__init__"}
    assert files == {delta.__name__.rpartition(".")[2] for delta in DELTAS}  # type: ignore[attr-defined]


@given(case=cases())
def test_edits_are_the_same_each_time_and_all_different(case: Case) -> None:
    for delta in ON_GRAPHS:
        edits = list(delta.edits(case))
        assert edits == list(delta.edits(case))
        assert len(set(edits)) == len(edits)
        assert all(edit.delta == delta.NAME and edit.element and edit.what for edit in edits)


@given(case=cases())
def test_no_edits_change_nothing(case: Case) -> None:
    for delta in ON_GRAPHS:
        plain = delta.apply(case, [])
        assert plain is not None
        assert sort_key(plain) <= sort_key(case)  # it may be pruned on the way
        assert delta.apply(plain, []) == plain


@each_delta
@given(case=st.one_of(cases(), cases(("write", "unary", "view")), cases(("loop", "condition"))))
def test_each_edit_gives_nothing_or_a_sound_case(delta: Delta, case: Case) -> None:
    for edit in delta.edits(case):
        changed = delta.apply(case, [edit])
        if changed is not None:
            assert problems(changed) == [], edit
            assert changed == delta.apply(case, [edit]), edit


@given(case=cases())
def test_edits_of_all_elements_together_give_nothing_or_a_sound_case(case: Case) -> None:
    for delta in ON_GRAPHS:
        edits = first_of_each_element(list(delta.edits(case)))
        changed = delta.apply(case, edits if delta.TOGETHER else edits[:1])
        assert changed is None or problems(changed) == [], delta.NAME


#: Deltas each of whose edits makes any case simpler: what they propose is never a wasted thought.
ALWAYS_SIMPLER = [
    delta
    for delta in DELTAS
    if delta.NAME
    in ("drop-inputs", "recipe-defaults", "static-sizes", "keyword-defaults", "constant-values",
        "memory-formats", "scalars", "output-structure", "check-inputs")
]  # fmt: skip


@given(case=cases())
def test_each_of_their_edits_makes_it_simpler(case: Case) -> None:
    for edit in [edit for delta in ALWAYS_SIMPLER for edit in delta.edits(case)]:
        changed = find_delta(edit.delta).apply(case, [edit])
        assert changed is None or sort_key(changed) < sort_key(case), edit


def test_a_quantizer_s_numbers_are_left_as_they_are() -> None:
    schema = (
        "quantized_decomposed::dequantize_per_tensor(Tensor input, float scale, int zero_point,"
        " int quant_min, int quant_max, ScalarType dtype) -> Tensor"
    )
    target = "quantized_decomposed.dequantize_per_tensor.default"
    given = Input("x", "input", TensorSpec((2,), "int8"))
    node = Node("d", target, (Ref("x"), 0.5, 3, -128, 127, Atom("dtype", "int8")))
    made = Case(Graph((given,), (node,), (Ref("d"),)), Recipe(), schemas={target: schema})
    assert find_delta("scalars").edits(made) == []
