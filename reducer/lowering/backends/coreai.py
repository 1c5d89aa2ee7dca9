"""How is a program lowered to Apple's Core AI? As its package's defaults say."""

from reducer.core.recipe import Construct, Recipe
from reducer.lowering.backends.backend import Backend

_COREAI = "executorch.backends.apple.coreai"


def _recipe() -> Recipe:
    return Recipe(
        compile_config=Construct(
            "executorch.exir:EdgeCompileConfig", kwargs=(("_skip_dim_order", True),)
        ),
        transform_passes=(Construct(f"{_COREAI}.passes:NarrowToCoreAIDtypesPass"),),
    )


BACKEND = Backend(
    name="coreai",
    partitioner=f"{_COREAI}.partition.partitioner:CoreAIPartitioner",
    recipe=_recipe,
    imports=("coreai_torch",),
    needs="Apple's coreai_torch",
)
