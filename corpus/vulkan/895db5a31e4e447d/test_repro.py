# Lowering for vulkan fails in partition.
# Observed: InternalError: Could not guard on data-dependent expression u21 < 0 (unhinted: u21 <
#   0). (Size-like symbols: none)
# Cause: GuardOnDataDependentSymNode: Could not guard on data-dependent expression u21 < 0
#   (unhinted: u21 < 0). (Size-like symbols: none)
# With Python 3.11.7, torch 2.13.0+cpu, executorch 1.5.1.
import unittest

import torch
from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.exir import to_edge_transform_and_lower


class Repro(torch.nn.Module):
    def forward(self, x, y, z):
        item = x[0].item()
        torch._check(item >= 0)
        torch._check(item <= 1)
        z.index_copy_(0, x, y[item:1])
        return item


example_inputs = (torch.zeros(1, dtype=torch.int64), torch.zeros(2), torch.zeros(1))


def lower():
    exported = torch.export.export(Repro().eval(), example_inputs)
    return to_edge_transform_and_lower(exported, partitioner=[VulkanPartitioner()])


class TestRepro(unittest.TestCase):
    def test_it_lowers(self):
        lower()


if __name__ == "__main__":
    unittest.main()
