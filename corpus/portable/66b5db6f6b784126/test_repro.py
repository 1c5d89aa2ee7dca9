# Lowering for portable fails in to_executorch.
# Observed: InternalError: Failed with error: Unsupported control flow operator: while_loop
# With Python 3.11.7, torch 2.13.0+cpu, executorch 1.5.1.
import unittest

import torch
from executorch.exir import to_edge_transform_and_lower
from torch._higher_order_ops.while_loop import while_loop


class Repro(torch.nn.Module):
    def forward(self, x):
        def cond_fn(x):
            return x < 1

        def body_fn(x):
            return (x + 1,)

        return while_loop(cond_fn, body_fn, (x,))[0]


example_inputs = (torch.tensor(0.0),)


def lower():
    exported = torch.export.export(Repro().eval(), example_inputs)
    edge = to_edge_transform_and_lower(exported)
    return edge.to_executorch()


class TestRepro(unittest.TestCase):
    def test_it_lowers(self):
        lower()


if __name__ == "__main__":
    unittest.main()
