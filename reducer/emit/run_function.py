"""How does a script run the ``.pte`` that it made?"""

from __future__ import annotations

from reducer.core.recipe import Recipe
from reducer.core.stage import Stage
from reducer.emit.layout import wrap

_PROGRAM = "program = Runtime.get().load_program(lower().buffer)"
_METHOD = 'method = program.load_method("forward")'


def entry(recipe: Recipe) -> str:
    """The function that fails: ``lower``, or ``run`` where the ``.pte`` is made without complaint."""
    return "run" if recipe.last_stage.rank >= Stage.LOAD_PTE.rank else "lower"


def run_function(recipe: Recipe) -> tuple[set[str], str]:
    """Import lines and the function ``run()``; nothing for what fails before there is a ``.pte``."""
    if entry(recipe) == "lower":
        return set(), ""
    lines = {
        Stage.LOAD_PTE: ["return Runtime.get().load_program(lower().buffer)"],
        Stage.EXECUTE: [_PROGRAM, _METHOD, "return method.execute(example_inputs)"],
        Stage.COMPARE: [_PROGRAM, _METHOD, "return method.execute(example_inputs)"],
    }[recipe.last_stage]
    body = [row for line in lines for row in wrap(f"    {line}")]
    return {"from executorch.runtime import Runtime"}, "\n".join(["def run():", *body])
