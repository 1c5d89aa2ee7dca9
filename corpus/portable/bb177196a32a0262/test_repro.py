# The .pte for portable does not execute.
# Observed: RuntimeError: Failed to load method forward, error: 0x:14
# Cause: executorch runtime: [operator_registry.cpp:277] kernel 'aten::_embedding_bag.out' not
#   found.
# With Python 3.11.7, torch 2.13.0+cpu, executorch 1.5.1.
import unittest

import torch
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime


class Repro(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1, 1))

    def forward(self, x):
        return torch.embedding_bag(self.weight, x, x, False, 1, False, None, False, None)[0]


example_inputs = (torch.zeros(1, dtype=torch.int64),)


def lower():
    exported = torch.export.export(Repro().eval(), example_inputs)
    edge = to_edge_transform_and_lower(exported)
    return edge.to_executorch()


def run():
    program = Runtime.get().load_program(lower().buffer)
    method = program.load_method("forward")
    return method.execute(example_inputs)


class TestRepro(unittest.TestCase):
    def test_it_runs(self):
        run()


if __name__ == "__main__":
    unittest.main()
