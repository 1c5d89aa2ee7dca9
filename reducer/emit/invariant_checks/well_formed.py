"""As text: does the graph lint? The worker also compares it with the program's signature."""

from __future__ import annotations

from reducer.emit.invariant_checks import hook

NAME = "well-formed"
IMPORTS = hook.IMPORTS

SOURCE = f'''\
def look(graph_module):
    """Whether the graph lints."""
    try:
        graph_module.graph.lint()
    except Exception:
        return False
    return True


def is_broken(before, after):
    return before and not after


{hook.WATCH}'''
