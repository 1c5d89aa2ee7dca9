# Lowering for xnnpack fails in preprocess.
# Observed: Exception: An error occurred when running the 'ChannelsLastTaggedReshapePass' pass
#   after the following passes: []
# Cause: AssertionError: Attempting to convert non-NHWC compatible node to NHWC
# With Python 3.11.7, torch 2.13.0+cpu, executorch 1.5.1.
import unittest

import torch
import torch.nn.functional as F
from executorch.backends.xnnpack._passes.channels_last_tagged_reshape_pass import (
    ChannelsLastTaggedReshapePass,
)
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
from executorch.exir.dialects._ops import ops
from executorch.exir.verification.verifier import EXIREdgeDialectVerifier
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.export import ExportedProgram
from torch.export.exported_program import ModuleCallEntry, ModuleCallSignature
from torch.export.graph_signature import (
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    TensorArgument,
)
from torch.utils import _pytree as pytree


class Repro(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return F.prelu(x, self.weight)


example_inputs = (torch.zeros(1),)


def lower():
    exported = torch.export.export(Repro().eval(), example_inputs)
    return to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])


def build():
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    x.meta["val"] = mode.from_tensor(torch.zeros(1))
    prelu = graph.call_function(ops.edge.aten.prelu.default, (x, x))
    with mode:
        prelu.meta["val"] = ops.edge.aten.prelu.default(x.meta["val"], x.meta["val"])
    graph.output((prelu,))
    return torch.fx.GraphModule(torch.nn.Module(), graph)


def program_around(graph_module):
    inputs = [
        InputSpec(InputKind.USER_INPUT, TensorArgument("x"), None),
    ]
    empty = pytree.tree_structure(((), {}))
    return ExportedProgram(
        root=graph_module,
        graph=graph_module.graph,
        graph_signature=ExportGraphSignature(
            inputs,
            [
                OutputSpec(OutputKind.USER_OUTPUT, TensorArgument(node.name), None)
                for node in graph_module.graph.output_node().args[0]
            ],
        ),
        state_dict={},
        range_constraints={},
        module_call_graph=[ModuleCallEntry("", ModuleCallSignature([], [], empty, empty))],
        constants={},
        verifiers=[
            EXIREdgeDialectVerifier(EdgeCompileConfig(_check_ir_validity=False), class_only=True)
        ],
    )


def run_pass():
    graph_module = build()
    program = program_around(graph_module)
    graph_module = program.graph_module
    return ChannelsLastTaggedReshapePass(program)(graph_module)


class TestRepro(unittest.TestCase):
    def test_it_lowers(self):
        lower()

    def test_channels_last_tagged_reshape_pass_runs(self):
        run_pass()


if __name__ == "__main__":
    unittest.main()
