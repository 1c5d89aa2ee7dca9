"""How is a program lowered to Core ML? Its compiler runs on Linux as well; the model does not."""

from reducer.lowering.backends.backend import Backend

BACKEND = Backend(
    name="coreml",
    partitioner="executorch.backends.apple.coreml.partition.coreml_partitioner:CoreMLPartitioner",
    imports=("executorch.backends.apple.coreml.compiler.coreml_preprocess",),
    needs="coremltools (pip)",
)
