"""How is a program lowered to a Snapdragon NPU? As its recipe for fp16 on the HTP says."""

import os

from reducer.core.recipe import Construct, Recipe
from reducer.lowering.backends.backend import Backend

_QUALCOMM = "executorch.backends.qualcomm"
_UTILS = f"{_QUALCOMM}.utils.utils"


def _recipe() -> Recipe:
    return Recipe(compile_config=Construct(f"{_UTILS}:qnn_edge_config"))


def _obstacle() -> str:
    sdk = os.environ.get("QNN_SDK_ROOT", "")
    return "" if sdk and os.path.isdir(sdk) else "QNN_SDK_ROOT names no SDK"


BACKEND = Backend(
    name="qualcomm",
    partitioner=f"{_QUALCOMM}.partition.qnn_partitioner:QnnPartitioner",
    arguments=(
        (
            "compiler_specs",
            Construct(
                f"{_UTILS}:generate_qnn_executorch_compiler_spec",
                kwargs=(
                    (
                        "soc_model",
                        Construct(
                            f"{_QUALCOMM}.serialization.qc_schema:QcomChipset.SM8650", call=False
                        ),
                    ),
                    (
                        "backend_options",
                        Construct(
                            f"{_UTILS}:generate_htp_compiler_spec", kwargs=(("use_fp16", True),)
                        ),
                    ),
                ),
            ),
        ),
    ),
    options_argument="compiler_specs",
    recipe=_recipe,
    imports=(f"{_QUALCOMM}.qnn_preprocess",),
    obstacle=_obstacle,
    needs="Qualcomm's AI Engine Direct SDK (QNN_SDK_ROOT)",
)
