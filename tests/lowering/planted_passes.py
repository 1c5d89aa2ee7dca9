"""Passes that break one thing each, and one that breaks nothing."""

from __future__ import annotations

import torch
from executorch.exir.pass_base import ExportedProgramPassBase, ExportedProgramPassResult
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.passes.infra.pass_base import PassBase, PassResult


def calls(graph_module):
    return [node for node in graph_module.graph.nodes if node.op == "call_function"]


class Harmless(PassBase):
    """Writes the graph down again, as it is."""

    def call(self, graph_module):
        graph_module.recompile()
        return PassResult(graph_module, True)


class OpensMode(Harmless):
    def call(self, graph_module):
        node = calls(graph_module)[-1]
        value = node.meta["val"]
        with FakeTensorMode() as mode:
            assert mode is not value.fake_mode
            node.meta["val"] = torch.empty(value.shape, dtype=value.dtype)
        return PassResult(graph_module, True)


class OpensModeInList(OpensMode):
    """As one of several values of a node."""

    def call(self, graph_module):
        node = calls(graph_module)[-1]
        before = node.meta["val"]
        result = super().call(graph_module)
        node.meta["val"] = [before, (node.meta["val"],)]
        return result


class StaleShape(Harmless):
    def call(self, graph_module):
        node = calls(graph_module)[0]
        node.meta["val"] = node.meta["val"].unsqueeze(0)
        return PassResult(graph_module, True)


class StaleStrides(Harmless):
    def call(self, graph_module):
        node = calls(graph_module)[0]
        value = node.meta["val"]
        with value.fake_mode:
            node.meta["val"] = torch.empty_strided(value.shape, (1, value.shape[0]))
        return PassResult(graph_module, True)


class FlipsFlag(Harmless):
    def call(self, graph_module):
        mode = calls(graph_module)[0].meta["val"].fake_mode
        mode.static_shapes = not mode.static_shapes
        return PassResult(graph_module, True)


class ResetsFlag(Harmless):
    """Of the flag which the retrace of exir sets."""

    def call(self, graph_module):
        calls(graph_module)[0].meta["val"].fake_mode.allow_non_fake_inputs = False
        return PassResult(graph_module, True)


class ChangesNumbers(Harmless):
    """Adds the second operand twice, which no shape tells."""

    def call(self, graph_module):
        node = next(node for node in calls(graph_module) if "add" in str(node.target))
        node.kwargs = {**node.kwargs, "alpha": 2}
        return PassResult(graph_module, True)


class BreaksGraph(Harmless):
    """Uses a value before it is computed."""

    def call(self, graph_module):
        first, *_, last = calls(graph_module)
        last.append(first)
        return PassResult(graph_module, True)


class BreaksSecondTime(ChangesNumbers):
    def __init__(self):
        self.runs = 0

    def call(self, graph_module):
        self.runs += 1
        return super().call(graph_module) if self.runs == 2 else Harmless.call(self, graph_module)


class ChangesWeight(ExportedProgramPassBase):
    """Of the program that was handed in: a parameter is shared with it."""

    def call(self, exported_program):
        weight = next(iter(exported_program.state_dict.values()))
        with torch.no_grad():
            weight.mul_(2)
        return ExportedProgramPassResult(exported_program, True)


class LosesInput(ExportedProgramPassBase):
    """The signature names an input that the graph does not have."""

    def call(self, exported_program):
        exported_program.graph_signature.input_specs.append(
            exported_program.graph_signature.input_specs[-1]
        )
        return ExportedProgramPassResult(exported_program, True)


class StalesProgram(ExportedProgramPassBase):
    """Of the program that it is called with."""

    def call(self, exported_program):
        StaleShape().call(exported_program.graph_module)
        return ExportedProgramPassResult(exported_program, True)


class StalesOwnProgram(Harmless):
    """Of the program that it was constructed with."""

    def __init__(self, exported_program):
        self.exported_program = exported_program

    def call(self, graph_module):
        assert self.exported_program.graph_module is graph_module
        return StaleShape().call(graph_module)


def changes_numbers(graph_module):
    """A plain function."""
    return ChangesNumbers().call(graph_module)


class Raises(Harmless):
    def call(self, graph_module):
        raise RuntimeError("on purpose")
