"""As text: does each ``meta["val"]`` describe what the graph computes there?

For fixed sizes; nodes that need data, or a delegate, are believed.
"""

from __future__ import annotations

from reducer.emit.invariant_checks import hook

NAME = "metadata"
OF_PROGRAM = False
LOOK_IMPORTS = (
    "import torch",
    "from torch._subclasses.fake_tensor import FakeTensorMode",
    "from torch.utils import _pytree as pytree",
)
IMPORTS = (*hook.IMPORTS, *LOOK_IMPORTS)

LOOK = '''\
def look(graph_module):
    """How many nodes are described by another type, shape or strides than they compute."""
    mode, values, wrong = FakeTensorMode(allow_non_fake_inputs=True), {}, 0
    for node in graph_module.graph.nodes:
        described = node.meta.get("val")
        try:
            if node.op != "call_function" or "delegate" in str(node.target):
                raise LookupError("nothing to compute")
            with mode:
                args, kwargs = torch.fx.node.map_arg((node.args, dict(node.kwargs)), values.get)
                values[node] = node.target(*args, **kwargs)
            wrong += described is not None and layout(described) != layout(values[node])
        except Exception:
            with mode:
                values[node] = pytree.tree_map_only(torch.Tensor, renewed, described)
    return wrong


def renewed(value):
    return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype)


def layout(value):
    """Type, shape, and the strides that mean anything."""
    return [
        (leaf.dtype, leaf.shape, [s for s, n in zip(leaf.stride(), leaf.shape) if n > 1])
        for leaf in pytree.tree_leaves(value)
        if isinstance(leaf, torch.Tensor)
    ]


def is_broken(before, after):
    return after > before
'''
SOURCE = f"{LOOK}\n\n{hook.WATCH}"

TOLD = "nodes that are described wrongly: {before} before, {after} after"
ASSERTION = "self.assertLessEqual(after, before)"
