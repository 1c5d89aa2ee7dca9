# Lowering for portable fails in to_executorch.
# Observed: Exception: _ViewSpec is incompatible with its base on creation. It has
#   shape_dynamism=0, but its base has shape_dynamism=1.
# With Python 3.11.7, torch 2.13.0+cpu, executorch 1.5.1.
import unittest

import torch
import torch.nn.functional as F
from executorch.exir import to_edge_transform_and_lower
from executorch.exir.passes.replace_view_copy_with_view_pass import ReplaceViewCopyWithViewPass
from executorch.exir.passes.spec_prop_pass import SpecPropPass
from torch._dispatch.python import enable_python_dispatcher
from torch._dynamo.source import ConstantSource
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.export import Dim
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv


class Repro(torch.nn.Module):
    def forward(self, x, y):
        return F.linear(x, y).chunk(1, dim=-1)[0]


example_inputs = (torch.zeros(2, 1, 1), torch.zeros(1))
s0 = Dim("s0")
dynamic_shapes = {"x": {0: s0}, "y": None}


def lower():
    exported = torch.export.export(Repro().eval(), example_inputs, dynamic_shapes=dynamic_shapes)
    edge = to_edge_transform_and_lower(exported)
    return edge.to_executorch()


def symbol(mode, name, hint):
    """A size that is not fixed."""
    made = mode.shape_env.create_symbol(hint, ConstantSource(name), DimDynamic.DYNAMIC)
    return mode.shape_env.create_symintnode(made, hint=hint)


def build():
    mode = FakeTensorMode(allow_non_fake_inputs=True, shape_env=ShapeEnv())
    s0 = symbol(mode, "s0", 2)
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    with mode:
        x.meta["val"] = torch.empty(s0)
    y = graph.placeholder("y")
    y.meta["val"] = mode.from_tensor(torch.zeros(1), static_shapes=True)
    int(s0)  # on the way to the pass it has become this number
    size = graph.call_function(torch.ops.aten.sym_size.int, (x, 0))
    view_copy = graph.call_function(torch.ops.aten.view_copy.default, (x, [size, 1]))
    mul = graph.call_function(torch.ops.aten.mul.Tensor, (view_copy, y))
    graph.output((mul,))
    for node in graph.nodes:
        if node.op == "call_function":
            args, kwargs = torch.fx.node.map_arg(
                (node.args, dict(node.kwargs)), lambda read: read.meta["val"]
            )
            with mode, enable_python_dispatcher():
                node.meta["val"] = node.target(*args, **kwargs)
    return torch.fx.GraphModule(torch.nn.Module(), graph)


def run_pass():
    graph_module = build()
    graph_module = SpecPropPass()(graph_module).graph_module
    return ReplaceViewCopyWithViewPass()(graph_module)


class TestRepro(unittest.TestCase):
    def test_it_lowers(self):
        lower()

    def test_replace_view_copy_with_view_pass_runs(self):
        run_pass()


if __name__ == "__main__":
    unittest.main()
