# The .pte for xnnpack does not execute.
# Observed: RuntimeError: Failed to load method forward, error: 0x:1
# Cause: executorch runtime: [XNNCompiler.cpp:1043] Failed to create convolution node 5 with code:
#   xnn_status_invalid_parameter
# With Python 3.11.7, torch 2.13.0+cpu, executorch 1.5.1.
import subprocess
import sys

if "--expect-failure" in sys.argv:  # what breaks outside the check is no pass
    sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(2))

import torch
import torch.ao.quantization.fx._decomposed
import torch.nn.functional as F
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime


class Repro(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(2, 2, 1, 1))
        self.bias = torch.nn.Parameter(torch.zeros(2))
        self.register_buffer("buffer", torch.zeros(2, 2, 1, 1, dtype=torch.int8))

    def forward(self, x, y):
        dequantize_per_tensor = torch.ops.quantized_decomposed.dequantize_per_tensor.default(
            self.buffer, 0.0009261507075279951, 0, -127, 127, torch.int8
        )
        dequantize_per_tensor_2 = torch.ops.quantized_decomposed.dequantize_per_tensor.default(
            x, 0.0013761369045823812, -128, -128, 127, torch.int8
        )
        conv2d = F.conv2d(dequantize_per_tensor_2, dequantize_per_tensor, self.bias)
        quantize_per_tensor = torch.ops.quantized_decomposed.quantize_per_tensor.default(
            conv2d, 0.0005261778132990003, -128, -128, 127, torch.int8
        )
        return quantize_per_tensor, F.conv2d(y, self.weight, self.bias)


example_inputs = (torch.zeros(1, 2, 1, 1, dtype=torch.int8), torch.zeros(2, 1, 1))


def lower():
    exported = torch.export.export(Repro().eval(), example_inputs)
    edge = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    return edge.to_executorch()


def run():
    program = Runtime.get().load_program(lower().buffer)
    method = program.load_method("forward")
    return method.execute(example_inputs)


def is_recorded(process):
    return (
        process.returncode == 1
        and "RuntimeError" in process.stderr
        and "] Failed to create convolution node" in process.stderr
        and "with code: xnn_status_invalid_parameter" in process.stderr
        and "] XNNCompiler::compileModel failed:" in process.stderr
        and "] Init failed for backend XnnpackBackend:" in process.stderr
    )


if __name__ == "__main__":
    if "--expect-failure" not in sys.argv:
        run()
        sys.exit()
    command = [sys.executable, __file__]
    process = subprocess.run(command, capture_output=True, text=True, errors="replace")
    print(process.stderr[-4000:])
    sys.exit(0 if is_recorded(process) else 2 if process.returncode else 1)
