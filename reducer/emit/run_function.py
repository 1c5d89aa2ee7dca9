"""How does a script run the ``.pte`` that it made?"""

from __future__ import annotations

from reducer.core.case import Case
from reducer.core.python_source import ENTRY
from reducer.core.recipe import Recipe
from reducer.core.stage import Stage
from reducer.emit.layout import wrap


def entry(recipe: Recipe) -> str:
    """The function that fails: ``lower``, or ``run`` where the ``.pte`` is made without complaint.

    Of a case in source, which says itself what it calls: by the stage.
    """
    if recipe.last_stage in ENTRY:
        return ENTRY[recipe.last_stage]
    return "run" if recipe.last_stage.rank >= Stage.LOAD_PTE.rank else "lower"


def run_function(case: Case) -> tuple[set[str], str]:
    """Import lines and the function ``run()``; nothing for what fails before there is a ``.pte``."""
    if entry(case.recipe) != "run":
        return set(), ""
    if case.recipe.last_stage is Stage.LOAD_PTE:
        lines = ["return Runtime.get().load_program(lower().buffer)"]
    else:
        result = "method.execute(example_inputs)"
        if case.checks:
            result = "[method.execute(inputs) for inputs in [example_inputs, *check_inputs]]"
        lines = [
            "program = Runtime.get().load_program(lower().buffer)",
            'method = program.load_method("forward")',
            f"return {result}",
        ]
    body = [row for line in lines for row in wrap(f"    {line}")]
    return {"from executorch.runtime import Runtime"}, "\n".join(["def run():", *body])
