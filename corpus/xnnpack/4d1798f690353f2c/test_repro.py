# Lowering for xnnpack fails in partition.
# Observed: RuntimeError: constant data node (p_weight) is tagged with (tag0) but has user
#   (output) which has tag (None)
# With Python 3.11.7, torch 2.13.0+cpu, executorch 1.5.1.
import unittest

import torch
import torch.nn.functional as F
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower


class Repro(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return F.linear(x, self.weight), self.weight


example_inputs = (torch.zeros(1),)


def lower():
    exported = torch.export.export(Repro().eval(), example_inputs)
    return to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])


class TestRepro(unittest.TestCase):
    def test_it_lowers(self):
        lower()


if __name__ == "__main__":
    unittest.main()
