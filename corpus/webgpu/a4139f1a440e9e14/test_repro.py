# Lowering for webgpu fails in preprocess.
# Observed: Exception: An error occurred when running the 'FuseBatchNormPass' pass after the
#   following passes: []
# Cause: AssertionError: fake mode (<torch._subclasses.fake_tensor.FakeTensorMode>) from fake
#   tensor input 0 doesn't match mode (<torch._subclasses.fake_tensor.FakeTensorMode>) from fake
#   tensor input 1
# With Python 3.11.7, torch 2.13.0+cpu, executorch 1.5.1.
import unittest

import torch
from executorch.backends.webgpu.partitioner.partitioner import WebGPUPartitioner
from executorch.exir import to_edge_transform_and_lower
from executorch.exir.pass_base import ExportPass
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils import _pytree as pytree


class Repro(torch.nn.Module):
    def forward(self, x):
        return torch.arange(1) * 1


example_inputs = (torch.zeros(1),)


def lower():
    exported = torch.export.export(Repro().eval(), example_inputs)
    return to_edge_transform_and_lower(exported, partitioner=[WebGPUPartitioner()])


def build():
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    graph = torch.fx.Graph()
    constant = graph.placeholder("constant")  # carries the real tensor
    constant.meta["val"] = mode.fake_tensor_converter.from_real_tensor(
        mode, torch.tensor(0.0), make_constant=True
    )
    constant_2 = graph.placeholder("constant_2")  # carries the real tensor
    constant_2.meta["val"] = mode.fake_tensor_converter.from_real_tensor(
        mode, torch.zeros(1), make_constant=True
    )
    mul = graph.call_function(torch.ops.aten.mul.Tensor, (constant_2, constant))
    with mode:
        mul.meta["val"] = torch.ops.aten.mul.Tensor(constant_2.meta["val"], constant.meta["val"])
    graph.output((mul,))
    return torch.fx.GraphModule(torch.nn.Module(), graph)


def look(graph_module):
    """The fake modes that the values of a graph belong to."""
    values = pytree.tree_leaves([node.meta.get("val") for node in graph_module.graph.nodes])
    return {id(value.fake_mode) for value in values if isinstance(value, FakeTensor)}


def is_broken(before, after):
    return len(after) > max(len(before), 1)


def run_pass():
    graph_module = build()
    before = look(graph_module)
    result = ExportPass()(graph_module)
    return before, look(result.graph_module)


class TestRepro(unittest.TestCase):
    def test_it_lowers(self):
        lower()

    def test_export_pass_keeps_one_fake_mode(self):
        before, after = run_pass()
        self.assertEqual(len(after), 1)


if __name__ == "__main__":
    unittest.main()
