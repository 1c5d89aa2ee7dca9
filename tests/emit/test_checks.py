"""Are further inputs written as a person would, in the sizes that they have?"""

from __future__ import annotations

from dataclasses import replace

from emit_cases import call, case, given

from reducer.core.case import Case, Check, Fill, Symbol, TensorSpec
from reducer.core.recipe import Recipe
from reducer.core.stage import Stage
from reducer.emit.run_function import run_function
from reducer.emit.source import write_source


def dynamic(*checks: Check, stage: Stage = Stage.EXECUTE) -> Case:
    made = case(
        (call("a", "aten.relu.default", "%x"),),
        "%a",
        inputs=(given("x", TensorSpec(("s0", 3), "float32")),),
    )
    recipe = Recipe("p", last_stage=stage)
    return replace(made, symbols=(Symbol("s0", 4, 1, 64),), checks=checks, recipe=recipe)


def test_sizes_and_numbers_of_a_check() -> None:
    text = write_source(
        dynamic(Check((("s0", 9),)), Check((("s0", 4),), (("x", Fill("ones")),)))
    ).body
    assert "example_inputs = (torch.zeros(4, 3),)" in text
    assert "check_inputs = [(torch.zeros(9, 3),), (torch.ones(4, 3),)]" in text


def test_without_checks_nothing_is_said_of_them() -> None:
    assert "check_inputs" not in write_source(dynamic()).body


def test_it_is_run_on_all_of_them() -> None:
    _, text = run_function(dynamic(Check((("s0", 9),))))
    assert "[method.execute(inputs) for inputs in [example_inputs, *check_inputs]]" in text
    _, text = run_function(dynamic())
    assert "return method.execute(example_inputs)" in text


def test_what_fails_earlier_is_not_run() -> None:
    assert run_function(dynamic(stage=Stage.PREPROCESS)) == (set(), "")


def test_a_check_as_the_example() -> None:
    check = Check((("s0", 9),), (("x", Fill("ones")),))
    promoted = dynamic(check).checked_by(check)
    assert promoted.symbols[0].hint == 9
    assert promoted.graph.inputs[0].fill == Fill("ones")
    assert promoted.checks == ()


def test_numbers_of_another_size_are_drawn() -> None:
    made = dynamic()
    stored = replace(made.graph.inputs[0], fill=Fill("data", digest="d"))
    made = made.with_graph(replace(made.graph, inputs=(stored,)))
    assert made.checked_by(Check((("s0", 9),))).graph.inputs[0].fill == Fill("random")
