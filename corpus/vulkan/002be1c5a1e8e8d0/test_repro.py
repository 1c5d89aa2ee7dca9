# Lowering for vulkan fails in preprocess.
# Observed: RuntimeError: Cannot create value for node _local_scalar_dense with spec of type
#   <class 'NoneType'>
# With Python 3.11.7, torch 2.13.0+cpu, executorch 1.5.1.
import unittest

import torch
from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.exir import to_edge_transform_and_lower


class Repro(torch.nn.Module):
    def forward(self, x):
        return torch.full((1,), x.item())


example_inputs = (torch.tensor(0.0),)


def lower():
    exported = torch.export.export(Repro().eval(), example_inputs)
    return to_edge_transform_and_lower(exported, partitioner=[VulkanPartitioner()])


class TestRepro(unittest.TestCase):
    def test_it_lowers(self):
        lower()


if __name__ == "__main__":
    unittest.main()
