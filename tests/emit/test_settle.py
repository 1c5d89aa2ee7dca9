"""Is a spelling found that exports to the wanted operators, with few questions?"""

from __future__ import annotations

from emit_cases import call, case

from reducer.core.wire import Spelled
from reducer.emit.settle import comparable, settle, wanted_targets

NODES = (call("a", "aten.relu.default", "%x"), call("b", "aten.sin.default", "%a"))
CASE = case(NODES, "%b")


def test_one_question_if_the_first_spelling_is_right() -> None:
    asked: list[str] = []

    def ask(source: str) -> Spelled:
        asked.append(source)
        return Spelled(("aten.relu.default", "aten.sin.default"))

    found = settle(CASE, ask)
    assert found.exact
    assert found.spelling == {}
    assert len(asked) == 1


def test_only_the_operator_that_differs_is_written_another_way() -> None:
    def ask(source: str) -> Spelled:
        first = "aten.relu.default" if "torch.ops.aten.relu" in source else "aten.clamp_min.default"
        return Spelled((first, "aten.sin.default"))

    found = settle(CASE, ask)
    assert found.exact
    assert set(found.spelling) == {"aten.relu.default"}


def test_the_operator_that_an_error_names_is_written_another_way() -> None:
    def ask(source: str) -> Spelled:
        if "torch.sin(" in source:
            return Spelled(error="AttributeError: module 'torch' has no attribute 'sin'")
        return Spelled(("aten.relu.default", "aten.sin.default"))

    found = settle(CASE, ask)
    assert found.exact
    assert set(found.spelling) == {"aten.sin.default"}


def test_an_error_that_names_nothing() -> None:
    def ask(source: str) -> Spelled:
        if "F.relu(" in source:
            return Spelled(error="RuntimeError: something else")
        return Spelled(("aten.relu.default", "aten.sin.default"))

    found = settle(CASE, ask)
    assert found.exact
    assert set(found.spelling) == {"aten.relu.default"}


def test_nothing_helps() -> None:
    found = settle(CASE, lambda source: Spelled(("aten.cos.default",)))
    assert not found.exact
    assert "aten.relu.default" in found.difference
    assert found.questions <= 20


def test_what_export_adds_does_not_count() -> None:
    targets = ["operator:getitem", "aten.sym_size.int", "aten._assert_scalar.default"]
    literal = ["aten.lift_fresh_copy.default", "aten.detach_.default"]
    assert comparable([*targets, *literal]) == literal[:1]
    assert wanted_targets(CASE) == ["aten.relu.default", "aten.sin.default"]
