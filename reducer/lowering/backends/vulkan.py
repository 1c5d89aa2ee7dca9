"""How is a program lowered to Vulkan?"""

from reducer.lowering.backends.backend import Backend

BACKEND = Backend(
    name="vulkan",
    partitioner="executorch.backends.vulkan.partitioner.vulkan_partitioner:VulkanPartitioner",
    options_argument="compile_options",
    imports=(
        "executorch.backends.vulkan.partitioner.vulkan_partitioner",
        "executorch.backends.vulkan.vulkan_preprocess",
    ),
    needs="a wheel of executorch with the Vulkan backend",
)
