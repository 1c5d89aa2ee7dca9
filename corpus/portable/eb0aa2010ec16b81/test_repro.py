# Lowering for portable fails in to_edge.
# Observed: SpecViolationError: Operator torch._ops.aten._embedding_bag_forward_only.default is
#   not in Core ATen opset (https://pytorch.org/docs/stable/torch.compiler_ir.html#core-aten-ir)."
# With Python 3.11.7, torch 2.13.0+cpu, executorch 1.5.1.
import unittest

import torch
from executorch.exir import to_edge_transform_and_lower


class Repro(torch.nn.Module):
    def forward(self, x, y):
        return torch.embedding_bag(x, y, y, False, 1, False, None, False, None)[0]


example_inputs = (torch.zeros(1, 1), torch.zeros(1, dtype=torch.int64))


def lower():
    exported = torch.export.export(Repro().eval(), example_inputs)
    return to_edge_transform_and_lower(exported)


class TestRepro(unittest.TestCase):
    def test_it_lowers(self):
        lower()


if __name__ == "__main__":
    unittest.main()
