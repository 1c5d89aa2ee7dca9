"""Which partitioners may a recipe do without, and what is the rest called?"""

from __future__ import annotations

from dataclasses import replace

from reducer.core.case import Case
from reducer.core.recipe import Construct, Recipe
from reducer.core.stage import Stage
from reducer.deltas import recipe_defaults
from tests.graph.small_cases import call, case, given

TWO = Recipe("xnnpack+vulkan", (Construct("a:X"), Construct("b:V")))


def lowered(stage: Stage, recipe: Recipe = TWO) -> Case:
    some = case([given("x")], [call("r", "aten.relu.default", "x")], "r")
    return replace(some, recipe=replace(recipe, last_stage=stage))


def test_what_is_left_of_several_is_called_so() -> None:
    some = lowered(Stage.PREPROCESS)
    first, second = recipe_defaults.edits(some)
    without = recipe_defaults.apply(some, [first])
    assert without is not None
    assert (without.recipe.backend, without.recipe.partitioners) == ("vulkan", TWO.partitioners[1:])
    without = recipe_defaults.apply(some, [second])
    assert without is not None
    assert without.recipe.backend == "xnnpack"
    assert recipe_defaults.edits(without) == []  # its stage does not exist without any


def test_one_has_to_stay_where_it_is_a_partitioner_that_fails() -> None:
    some = lowered(Stage.PREPROCESS)
    assert recipe_defaults.apply(some, recipe_defaults.edits(some)) is None
    later = lowered(Stage.TO_EXECUTORCH)
    without = recipe_defaults.apply(later, recipe_defaults.edits(later))
    assert without is not None
    assert (without.recipe.backend, without.recipe.partitioners) == ("portable", ())
