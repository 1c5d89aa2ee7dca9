"""How is a program lowered to MLX? With what its exporters pass."""

from reducer.core.recipe import Construct, Recipe
from reducer.lowering.backends.backend import Backend


def _recipe() -> Recipe:
    options = (("_check_ir_validity", False), ("_skip_dim_order", True))
    return Recipe(compile_config=Construct("executorch.exir:EdgeCompileConfig", kwargs=options))


BACKEND = Backend(
    name="mlx",
    partitioner="executorch.backends.mlx.partitioner:MLXPartitioner",
    recipe=_recipe,
    needs="a wheel of executorch that was built with MLX",
)
