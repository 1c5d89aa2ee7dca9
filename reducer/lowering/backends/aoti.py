"""What is AotiPartitioner? The base of CUDA and Metal: by itself it names no backend."""

from reducer.core.recipe import Items
from reducer.lowering.backends.backend import Backend

BACKEND = Backend(
    name="aoti",
    partitioner="executorch.backends.aoti.aoti_partitioner:AotiPartitioner",
    arguments=(("compile_spec", Items("list")),),
    obstacle=lambda: "it is the base of cuda and metal, and compiles for nothing by itself",
    needs="one of those instead",
)
