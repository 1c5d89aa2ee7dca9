# The .pte for portable does not execute.
# Observed: RuntimeError: method->execute() failed with error 0x12
# Cause: executorch runtime: [kernel_ops_util.cpp:394] Check failed (in.dim() == 3 || in.dim() ==
#   4): Expect input tensor to be 3-D or 4-D, but got, 5.
# With Python 3.11.7, torch 2.13.0+cpu, executorch 1.5.1.
import unittest

import torch
import torch.nn.functional as F
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime


class Repro(torch.nn.Module):
    def forward(self, x, y):
        return F.conv3d(x, y)


example_inputs = (torch.zeros(1, 1, 1, 1), torch.zeros(1, 1, 1, 1, 1))


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
