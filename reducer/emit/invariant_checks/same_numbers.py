"""As text: does the program compute the same as before, where torch can run it?

Looked at around each run of exir's pass manager: only there is it known which tensors belong to a graph.
"""

from __future__ import annotations

NAME = "same-numbers"
#: Whether ``look`` takes the program around a graph, besides that graph if it is not the program's own.
OF_PROGRAM = True
LOOK_IMPORTS = ("import torch", "from torch.utils import _pytree as pytree")
IMPORTS = ("from executorch.exir.pass_manager import ExportedProgramPassManager", *LOOK_IMPORTS)

LOOK = '''\
def look(program, graph_module=None):
    """What the program's graph (or that one) returns for drawn inputs; None where torch cannot run it."""
    generator = torch.Generator().manual_seed(0)
    stored = {**program.state_dict, **program.constants}
    inputs = [node for node in program.graph.nodes if node.op == "placeholder"]
    try:
        given = [
            stored[spec.target].detach().clone()
            if spec.target in stored
            else drawn(node.meta["val"], generator)
            for node, spec in zip(inputs, program.graph_signature.input_specs)
        ]
        interpreter = torch.fx.Interpreter(graph_module or program.graph_module)
        return pytree.tree_leaves(interpreter.run(*given, enable_io_processing=False))
    except Exception:
        return None


def drawn(value, generator):
    if not isinstance(value, torch.Tensor):
        return value
    if value.is_floating_point():
        return torch.randn(value.shape, generator=generator).to(value.dtype)
    return torch.randint(0, 2, value.shape, generator=generator).to(value.dtype)


def is_broken(before, after):
    if before is None or after is None or len(before) != len(after):
        return False
    pairs = [pair for pair in zip(before, after) if isinstance(pair[0], torch.Tensor)]
    return not all(
        one.shape == other.shape
        and torch.allclose(one.double(), other.double(), 1e-3, 1e-3, equal_nan=True)
        for one, other in pairs
    )
'''
SOURCE = f'''{LOOK}

def watch():
    """Compare each program before and after its passes; the list gets the names of those run."""
    broken = []
    run = ExportedProgramPassManager.__call__

    def call(self, program, *args, **kwargs):
        before = look(program)
        result = run(self, program, *args, **kwargs)
        if is_broken(before, look(result.exported_program)):
            broken.extend(getattr(item, "__name__", type(item).__name__) for item in self.passes)
        return result

    ExportedProgramPassManager.__call__ = call
    return broken
'''

TOLD = "it computes {before} before, {after} after"
ASSERTION = "self.assertFalse(is_broken(before, after))"
