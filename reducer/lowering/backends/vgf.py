"""How is a program lowered to VGF, Arm's form for Vulkan's ML extensions?"""

import subprocess

from reducer.core.recipe import Construct, Recipe
from reducer.lowering.backends.backend import UNCHECKED, Backend
from reducer.lowering.construct import resolve

_VGF = "executorch.backends.arm.vgf"


def _obstacle() -> str:
    found = resolve(f"{_VGF}.model_converter:find_model_converter_binary")()
    if not found:
        return "no model-converter on PATH"
    ran = subprocess.run([found, "--version"], check=False, capture_output=True, text=True)
    said = ran.stderr.strip().splitlines()[-1:]
    return f"{found} does not run: {' '.join(said)}" if ran.returncode else ""


BACKEND = Backend(
    name="vgf",
    partitioner=f"{_VGF}.partitioner:VgfPartitioner",
    arguments=(
        (
            "compile_spec",
            Construct(f"{_VGF}:VgfCompileSpec", kwargs=(("tosa_spec", "TOSA-1.0+FP"),)),
        ),
    ),
    options_argument="compile_spec",
    recipe=lambda: Recipe(compile_config=UNCHECKED),
    imports=(f"{_VGF}.backend",),
    obstacle=_obstacle,
    needs="tosa-tools and ai_ml_sdk_model_converter (pip install executorch[vgf])",
)
