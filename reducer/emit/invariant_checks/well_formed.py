"""As text: does the graph lint? The worker also compares it with the program's signature."""

from __future__ import annotations

from reducer.emit.invariant_checks import hook

NAME = "well-formed"
OF_PROGRAM = False
LOOK_IMPORTS: tuple[str, ...] = ()
IMPORTS = hook.IMPORTS

LOOK = '''\
def look(graph_module):
    """Whether the graph lints."""
    try:
        graph_module.graph.lint()
    except Exception:
        return False
    return True


def is_broken(before, after):
    return before and not after
'''
SOURCE = f"{LOOK}\n\n{hook.WATCH}"

TOLD = "the graph lints: {before} before, {after} after"
ASSERTION = "self.assertTrue(after)"
