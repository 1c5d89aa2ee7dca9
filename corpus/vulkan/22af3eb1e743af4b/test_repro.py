# Lowering for vulkan fails in partition.
# Observed: AssertionError: Cannot determine insertion point: no insertion_point provided and
#   orig_outputs is empty. Pass the last partition node as insertion_point.
# With Python 3.11.7, torch 2.13.0+cpu, executorch 1.5.1.
import unittest

import torch
from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.exir import to_edge_transform_and_lower


class Repro(torch.nn.Module):
    def forward(self, x):
        return x.nonzero()


example_inputs = (torch.zeros(1),)


def lower():
    exported = torch.export.export(Repro().eval(), example_inputs)
    return to_edge_transform_and_lower(exported, partitioner=[VulkanPartitioner()])


class TestRepro(unittest.TestCase):
    def test_it_lowers(self):
        lower()


if __name__ == "__main__":
    unittest.main()
