"""As text: do all values of a graph belong to one ``FakeTensorMode``?"""

from __future__ import annotations

from reducer.emit.invariant_checks import hook

NAME = "one-fake-mode"
OF_PROGRAM = False
LOOK_IMPORTS = (
    "from torch._subclasses.fake_tensor import FakeTensor",
    "from torch.utils import _pytree as pytree",
)
IMPORTS = (*hook.IMPORTS, *LOOK_IMPORTS)

LOOK = '''\
def look(graph_module):
    """The fake modes that the values of a graph belong to."""
    values = pytree.tree_leaves([node.meta.get("val") for node in graph_module.graph.nodes])
    return {id(value.fake_mode) for value in values if isinstance(value, FakeTensor)}


def is_broken(before, after):
    return len(after) > max(len(before), 1)
'''
SOURCE = f"{LOOK}\n\n{hook.WATCH}"

TOLD = "FakeTensorModes among the values: {len(before)} before, {len(after)} after; 1 expected"
ASSERTION = "self.assertEqual(len(after), 1)"
