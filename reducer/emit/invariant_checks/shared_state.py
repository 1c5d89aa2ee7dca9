"""As text: does a pass set flags of the fake modes that it shares with others?

Flags only: the worker also looks at the program that was handed in, and at what is known of symbols.
"""

from __future__ import annotations

from reducer.emit.invariant_checks import hook

NAME = "shared-state"
OF_PROGRAM = False
LOOK_IMPORTS = (
    "from torch._subclasses.fake_tensor import FakeTensor",
    "from torch.utils import _pytree as pytree",
)
IMPORTS = (*hook.IMPORTS, *LOOK_IMPORTS)

LOOK = '''\
def look(graph_module):
    """The flags of the graph's fake modes and of their shape environments."""
    values = pytree.tree_leaves([node.meta.get("val") for node in graph_module.graph.nodes])
    modes = [value.fake_mode for value in values if isinstance(value, FakeTensor)]
    owners = modes + [mode.shape_env for mode in modes if mode.shape_env is not None]
    return {
        (id(owner), name): flag
        for owner in owners
        for name, flag in vars(owner).items()
        if isinstance(flag, bool)
    }


def is_broken(before, after):
    return any(after.get(key, flag) != flag for key, flag in before.items())
'''
SOURCE = f"{LOOK}\n\n{hook.WATCH}"

TOLD = "flags that differ: {sum(after.get(key, flag) != flag for key, flag in before.items())}"
ASSERTION = "self.assertFalse(is_broken(before, after))"
