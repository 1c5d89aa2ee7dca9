"""How is a check put behind every pass that is a class? The text that four of the checks share."""

from __future__ import annotations

IMPORTS = (
    "from executorch.exir.pass_base import ExportedProgramPassBase",
    "from torch.fx.passes.infra.pass_base import PassBase",
)

WATCH = '''\
def watch():
    """Compare each graph before and after each pass; the list gets the names of those at fault."""
    broken = []

    def watched(run):
        def call(self, given):
            before = look(getattr(given, "graph_module", given))
            result = run(self, given)
            found = getattr(result, "exported_program", result)
            after = look(getattr(found, "graph_module", getattr(given, "graph_module", given)))
            if is_broken(before, after):
                broken.append(type(self).__name__)
            return result

        return call

    for base in (PassBase, ExportedProgramPassBase):
        base.__call__ = watched(base.__call__)
    return broken
'''
