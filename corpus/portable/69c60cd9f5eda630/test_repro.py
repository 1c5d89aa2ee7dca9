# Running the .pte for portable kills the process, in execute.
# Observed: SIGABRT: [tensor_impl.h:136] In function size(), assert failed (dim < dim_ && dim >=
#   0): Dimension out of range (expected to be in range of [0, -1], but got 0
# With Python 3.11.7, torch 2.13.0+cpu, executorch 1.5.1.
import subprocess
import sys
import unittest
from pathlib import Path

import torch
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime


class Repro(torch.nn.Module):
    def forward(self, x):
        return torch.logsumexp(x, 0)


example_inputs = (torch.tensor(0.0),)


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
        code = "import {0}; {0}.run()".format(Path(__file__).stem)
        command = [sys.executable, "-c", code]
        process = subprocess.run(command, cwd=Path(__file__).parent, timeout=600)
        self.assertEqual(process.returncode, 0)


if __name__ == "__main__":
    unittest.main()
