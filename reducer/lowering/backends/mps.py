"""How is a program lowered to Metal Performance Shaders? By releases that still have it."""

from reducer.core.recipe import Items
from reducer.lowering.backends.backend import Backend, compile_spec

BACKEND = Backend(
    name="mps",
    partitioner="executorch.backends.apple.mps.partition.mps_partitioner:MPSPartitioner",
    arguments=(("compile_specs", Items("list", (compile_spec("use_fp16", b"\x01"),))),),
    options_argument="compile_specs",
    needs="a wheel of executorch that has it (1.5.1 has not)",
)
