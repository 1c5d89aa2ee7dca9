# The .pte for portable does not execute.
# Observed: RuntimeError: method->execute() failed with error 0x12
# Cause: executorch runtime: [kernel_ops_util.cpp:394] Check failed (in.dim() == 3 || in.dim() ==
#   4): Expect input tensor to be 3-D or 4-D, but got, 5.
# With Python 3.11.7, torch 2.13.0+cpu, executorch 1.5.1.
import subprocess
import sys

if "--expect-failure" in sys.argv:  # what breaks outside the check is no pass
    sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(2))

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


def is_recorded(process):
    return (
        process.returncode == 1
        and "RuntimeError" in process.stderr
        and "): Expect input tensor to be" in process.stderr
        and "] Check failed (check_convolution_args( in, weight, bias, stride, paddin" in process.stderr
        and "] KernelCall failed at instruction" in process.stderr
        and "in operator aten::convolution.out:" in process.stderr
    )


if __name__ == "__main__":
    if "--expect-failure" not in sys.argv:
        run()
        sys.exit()
    command = [sys.executable, __file__]
    process = subprocess.run(command, capture_output=True, text=True, errors="replace")
    print(process.stderr[-4000:])
    sys.exit(0 if is_recorded(process) else 2 if process.returncode else 1)
