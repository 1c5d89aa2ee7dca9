"""How is a program lowered to an Ethos-U? Vela compiles it; what is not quantised stays outside."""

from reducer.core.recipe import Construct, Recipe
from reducer.lowering.backends.backend import UNCHECKED, Backend

_ETHOSU = "executorch.backends.arm.ethosu"

BACKEND = Backend(
    name="ethosu",
    partitioner=f"{_ETHOSU}.partitioner:EthosUPartitioner",
    arguments=(
        (
            "compile_spec",
            Construct(f"{_ETHOSU}:EthosUCompileSpec", kwargs=(("target", "ethos-u55-128"),)),
        ),
    ),
    options_argument="compile_spec",
    recipe=lambda: Recipe(compile_config=UNCHECKED),
    imports=(f"{_ETHOSU}.backend", "ethosu.vela.vela"),
    needs="tosa-tools and ethos-u-vela (pip install executorch[ethos-u])",
)
