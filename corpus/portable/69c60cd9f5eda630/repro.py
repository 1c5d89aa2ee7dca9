# Running the .pte for portable kills the process, in execute.
# Observed: SIGABRT: [tensor_impl.h:136] In function size(), assert failed (dim < dim_ && dim >=
#   0): Dimension out of range (expected to be in range of [0, -1], but got 0
# With Python 3.11.7, torch 2.13.0+cpu, executorch 1.5.1.
import signal
import subprocess
import sys

if "--expect-failure" in sys.argv:  # what breaks outside the check is no pass
    sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(2))

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


def is_recorded(process):
    return (
        process.returncode == -signal.SIGABRT
        and "[tensor_impl.h:" in process.stderr
        and "] In function size(), assert failed (dim < dim_ && dim >=" in process.stderr
        and "): Dimension out of range (expected to be in range of [" in process.stderr
        and "], but got" in process.stderr
    )


if __name__ == "__main__":
    if "--expect-failure" not in sys.argv:
        run()
        sys.exit()
    command = [sys.executable, __file__]
    process = subprocess.run(command, capture_output=True, text=True, errors="replace")
    print(process.stderr[-4000:])
    sys.exit(0 if is_recorded(process) else 2 if process.returncode else 1)
