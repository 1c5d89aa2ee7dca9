"""How is a program lowered to TOSA, the form that Arm backends have in common?"""

from reducer.core.recipe import Construct, Recipe
from reducer.lowering.backends.backend import UNCHECKED, Backend

_TOSA = "executorch.backends.arm.tosa"

BACKEND = Backend(
    name="tosa",
    partitioner=f"{_TOSA}.partitioner:TOSAPartitioner",
    arguments=(
        (
            "compile_spec",
            Construct(
                f"{_TOSA}.compile_spec:TosaCompileSpec", kwargs=(("tosa_spec", "TOSA-1.0+FP"),)
            ),
        ),
    ),
    options_argument="compile_spec",
    recipe=lambda: Recipe(compile_config=UNCHECKED),
    imports=(f"{_TOSA}.backend",),
    needs="tosa-tools (pip install executorch[ethos-u])",
)
