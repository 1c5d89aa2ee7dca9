"""How is a program compiled for CUDA by AOTInductor?"""

import torch

from reducer.core.recipe import Construct, Items
from reducer.lowering.backends.backend import Backend

_BACKEND = "executorch.backends.cuda.cuda_backend:CudaBackend"


def _obstacle() -> str:
    return "" if torch.cuda.is_available() else "torch has no CUDA device here"


BACKEND = Backend(
    name="cuda",
    partitioner="executorch.backends.cuda.cuda_partitioner:CudaPartitioner",
    arguments=(
        (
            "compile_spec",
            Items(
                "list", (Construct(f"{_BACKEND}.generate_method_name_compile_spec", ("forward",)),)
            ),
        ),
    ),
    obstacle=_obstacle,
    needs="a GPU, the CUDA toolkit, and torch built for CUDA",
)
