"""How is a program lowered to WebGPU? By Vulkan's partitioner and serialisation, renamed."""

from reducer.lowering.backends.backend import Backend

BACKEND = Backend(
    name="webgpu",
    partitioner="executorch.backends.webgpu.partitioner.partitioner:WebGPUPartitioner",
    options_argument="compile_options",
    imports=(
        "executorch.backends.webgpu.partitioner.partitioner",
        "executorch.backends.vulkan.vulkan_preprocess",
    ),
    needs="executorch 1.5 or later",
)
