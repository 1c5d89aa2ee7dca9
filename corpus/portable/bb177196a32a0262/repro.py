# The .pte for portable does not execute.
# Observed: RuntimeError: Failed to load method forward, error: 0x:14
# Cause: executorch runtime: [operator_registry.cpp:277] kernel 'aten::_embedding_bag.out' not
#   found.
# With Python 3.11.7, torch 2.13.0+cpu, executorch 1.5.1.
import subprocess
import sys

if "--expect-failure" in sys.argv:  # what breaks outside the check is no pass
    sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(2))

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


def is_recorded(process):
    return (
        process.returncode == 1
        and "RuntimeError" in process.stderr
        and "[operator_registry.cpp:" in process.stderr
        and "] kernel 'aten::_embedding_bag.out' not found." in process.stderr
        and "] aten::_embedding_bag.out" in process.stderr
        and "instructions don't have corresponding operator registered. See logs for" in process.stderr
    )


if __name__ == "__main__":
    if "--expect-failure" not in sys.argv:
        run()
        sys.exit()
    command = [sys.executable, __file__]
    process = subprocess.run(command, capture_output=True, text=True, errors="replace")
    print(process.stderr[-4000:])
    sys.exit(0 if is_recorded(process) else 2 if process.returncode else 1)
