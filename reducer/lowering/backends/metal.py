"""How is a program compiled for Metal by AOTInductor?"""

import torch

from reducer.core.recipe import Construct, Items
from reducer.lowering.backends.backend import Backend

_METAL = "executorch.backends.apple.metal"


def _obstacle() -> str:
    return "" if torch.backends.mps.is_available() else "torch has no MPS device here"


BACKEND = Backend(
    name="metal",
    partitioner=f"{_METAL}.metal_partitioner:MetalPartitioner",
    arguments=(
        (
            "compile_spec",
            Items(
                "list",
                (
                    Construct(
                        f"{_METAL}.metal_backend:MetalBackend.generate_method_name_compile_spec",
                        ("forward",),
                    ),
                ),
            ),
        ),
    ),
    obstacle=_obstacle,
    needs="macOS on Apple silicon",
)
