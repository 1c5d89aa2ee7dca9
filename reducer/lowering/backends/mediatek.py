"""How is a program lowered to a MediaTek NPU?"""

from reducer.core.recipe import Items, Recipe
from reducer.lowering.backends.backend import UNCHECKED, Backend, compile_spec

BACKEND = Backend(
    name="mediatek",
    partitioner="executorch.backends.mediatek.partitioner:NeuropilotPartitioner",
    arguments=(("compile_spec", Items("list", (compile_spec("platform-config", b"mt6989"),))),),
    options_argument="compile_spec",
    recipe=lambda: Recipe(compile_config=UNCHECKED),
    needs="mtk_converter and mtk_neuron of MediaTek's NeuroPilot SDK",
)
