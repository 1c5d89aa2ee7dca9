# The .pte for xnnpack returns other numbers than eager PyTorch.
# Observed: WrongNumbers: an output has other numbers: off by 0.5 where at most 1 is expected, and
#   0.0011 is rounding
# With Python 3.11.7, torch 2.13.0+cpu, executorch 1.5.1.
import unittest

import torch
import torch.nn.functional as F
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime


class Repro(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(2, 1, 1, 1))

    def forward(self, x):
        return F.conv2d(x, self.weight).softmax(-1)


example_inputs = (torch.zeros(1, 1, 1, 1),)


model = Repro().eval()


def lower():
    exported = torch.export.export(model, example_inputs)
    edge = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    return edge.to_executorch()


def run():
    program = Runtime.get().load_program(lower().buffer)
    method = program.load_method("forward")
    return method.execute(example_inputs)


def check():
    expected = torch.utils._pytree.tree_leaves(model(*example_inputs))
    for actual, wanted in zip(run()[-len(expected) :], expected):
        difference = (actual - wanted).abs().max()
        assert difference <= 0.1, (difference, actual, wanted)


class TestRepro(unittest.TestCase):
    def test_the_numbers_are_those_of_eager(self):
        check()


if __name__ == "__main__":
    unittest.main()
