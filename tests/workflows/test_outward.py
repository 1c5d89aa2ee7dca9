"""Are the user's words left out, and only those?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from reducer.core.case import Fill, Input
from reducer.core.finding import Finding
from reducer.core.recipe import Construct, Items, Plain, Recipe
from reducer.core.signature import ChainLink, Failure, MatchRule, signature_of
from reducer.core.stage import Stage
from reducer.core.wire import Environment
from reducer.emit.scrub import Scrubber
from reducer.workflows.outward import Outward
from tests.graph.small_cases import F32, call, case, given

MESSAGE = "Unsupported operator: while_loop, cut_value or secret_gate"


def told(message: str) -> str:
    made = case(
        (
            given("secret_gate", role="parameter"),
            Input("cut_value", "input", F32, Fill("random"), made=True),
        ),
        (call("while_loop", "add", "%secret_gate", "%cut_value"),),
        "%while_loop",
    )
    failure = Failure(Stage.TO_EXECUTORCH, (ChainLink("E", message),))
    found = Finding(
        "m.py", made, signature_of(failure), failure, MatchRule(), Environment(), "confirmed", 9
    )
    outward = Outward(Scrubber())
    return outward.finding(found).signature.message


def test_a_calls_name_is_an_operators_word_and_stays() -> None:
    assert "while_loop" in told(MESSAGE)
    assert "cut_value" in told(MESSAGE)


def test_what_the_users_module_holds_loses_its_name() -> None:
    assert "secret_gate" not in told(MESSAGE)


@pytest.mark.parametrize(
    ("option", "warned"),
    [("/home/ann/models/table.bin", True), (b"key=AKIAIOSFODNN7EXAMPLE", True), ("fp16", False), (3, False)],
)  # fmt: skip
def test_an_option_that_looks_private_is_warned_of(option: Plain, warned: bool) -> None:
    inner = Construct("there:Spec", (Items("list", (option,)),))
    recipe = Recipe("there", (Construct("there:Partitioner", kwargs=(("specs", inner),)),))
    made = replace(case((), ()), recipe=recipe)
    assert bool(Outward(Scrubber()).warnings(made)) is warned
