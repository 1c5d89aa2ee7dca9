"""How is a program lowered to XNNPACK?"""

from reducer.lowering.backends.backend import Backend

BACKEND = Backend(
    name="xnnpack",
    partitioner="executorch.backends.xnnpack.partition.xnnpack_partitioner:XnnpackPartitioner",
    imports=(
        "executorch.backends.xnnpack.partition.xnnpack_partitioner",
        "executorch.backends.xnnpack.xnnpack_preprocess",
    ),
    needs="a wheel of executorch with the XNNPACK backend",
)
