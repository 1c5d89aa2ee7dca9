"""How is a program lowered to Cadence's DSPs? By passes in two steps, as its ``compiler`` runs them."""

from reducer.core.recipe import Construct, Recipe
from reducer.lowering.backends.backend import Backend
from reducer.lowering.construct import importable_path, resolve

_AOT = "executorch.backends.cadence.aot"


def _recipe() -> Recipe:
    """Which passes these are, the wheel says."""
    passes = resolve(f"{_AOT}.passes:get_passes")("default")
    config = (
        ("_skip_dim_order", True),
        (
            "_core_aten_ops_exception_list",
            Construct(f"{_AOT}.compiler:TO_EDGE_OP_EXCEPTION_LIST", call=False),
        ),
        ("preserve_ops", Construct(f"{_AOT}.compiler:TO_EDGE_PRESERVE_OPS", call=False)),
    )
    return Recipe(
        compile_config=Construct("executorch.exir:EdgeCompileConfig", kwargs=config),
        transform_passes=tuple(Construct(importable_path(item)) for item in passes),
        two_steps=True,
    )


BACKEND = Backend(
    name="cadence",
    recipe=_recipe,
    imports=(f"{_AOT}.compiler",),
    needs="Python 3.12, and executorch with Cadence's passes",
)
