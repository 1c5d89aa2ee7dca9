"""How is a program lowered to ExecuTorch's own native backend?"""

from reducer.lowering.backends.backend import Backend

BACKEND = Backend(
    name="native",
    partitioner="executorch.backends.native.partitioner:NativePartitioner",
    needs="executorch 1.5 or later",
)
