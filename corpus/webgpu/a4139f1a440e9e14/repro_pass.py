# After ExportPass values belong to more than one FakeTensorMode.
# Met in preprocess for webgpu; here on a graph made by hand.
# With Python 3.11.7, torch 2.13.0+cpu, executorch 1.5.1.
import sys

if "--expect-failure" in sys.argv:  # what breaks outside the check is no pass
    sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(2))

import torch
from executorch.exir.pass_base import ExportPass
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils import _pytree as pytree


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


if __name__ == "__main__":
    before, after = run_pass()
    print(f"FakeTensorModes among the values: {len(before)} before, {len(after)} after; 1 expected")
    broken = is_broken(before, after)
    if "--expect-failure" in sys.argv:
        sys.exit(0 if broken else 1)
    if broken:
        sys.exit("after ExportPass: values belong to more than one FakeTensorMode")
