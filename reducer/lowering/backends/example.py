"""How is a program lowered to ExecuTorch's demonstration backend? Only quantised patterns are."""

from reducer.lowering.backends.backend import Backend

BACKEND = Backend(
    name="example",
    partitioner="executorch.backends.example.example_partitioner:ExamplePartitioner",
    needs="a wheel of executorch that has it",
)
