"""Is it a program at all? The graph lints, the signature's names exist, sizes are within their ranges."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch.export import ExportedProgram

from reducer.core.diagnosis import Violation
from reducer.lowering.watch.invariants.observation import Skipped, new_among
from reducer.lowering.watch.view import View

NAME = "well-formed"
DEAR = False
OF_THE_GRAPH = True


def observe(view: View, program: ExportedProgram | None) -> list[Violation]:
    """All that is wrong with the form of a graph, and of its program where that is known."""
    found = list(_lint(view))
    if view.program is not None and view.whole:
        found += _signature(view, view.program)
        found += _ranges(view.program)
    elif view.program is not None and view.specs is None:
        found.append(Violation(NAME, "placeholders and the signature's inputs differ in number"))
    return found


def alone(seen: list[Violation] | Skipped) -> list[Violation]:
    """What does not hold of one graph by itself."""
    return [] if isinstance(seen, Skipped) else seen


def caused(was: list[Violation] | Skipped, now: list[Violation] | Skipped) -> list[Violation]:
    """Faults of form that were not there before."""
    return new_among(alone(was), alone(now))


def _lint(view: View) -> Iterator[Violation]:
    for module in view.modules:
        try:
            module.graph.lint()
        except Exception as error:  # lint raises whatever it trips over
            yield Violation(NAME, "the graph does not lint", detail=_short(error))
        outputs = [node for node in module.graph.nodes if node.op == "output"]
        if len(outputs) != 1:
            yield Violation(NAME, "the graph has not exactly one output node")
        for node in module.graph.nodes:
            if node.op == "call_function" and not callable(node.target):
                yield Violation(NAME, "a node calls what is no function", node.name)


def _signature(view: View, program: ExportedProgram) -> Iterator[Violation]:
    signature = program.graph_signature
    placeholders = [node.name for node in view.placeholders]
    inputs = [getattr(spec.arg, "name", "") for spec in signature.input_specs]
    for name in inputs:
        if name not in placeholders:
            yield Violation(NAME, "an input of the signature is no placeholder", name)
    for name in placeholders:
        if name not in inputs:
            yield Violation(NAME, "a placeholder is no input of the signature", name)
    if inputs != placeholders and set(inputs) == set(placeholders):
        yield Violation(NAME, "placeholders and the signature's inputs differ in order or number")
    for spec in signature.input_specs:
        if spec.target is not None and view.stored(spec) is None and _is_stored(spec):
            yield Violation(NAME, "an input of the signature has no tensor", spec.target)
    returned = [node for node in program.graph.nodes if node.op == "output"]
    values = returned[0].args[0] if returned and returned[0].args else ()
    values = values if isinstance(values, tuple | list) else (values,)
    if len(values) != len(signature.output_specs):
        yield Violation(NAME, "outputs of the graph and of the signature differ in number")
        return
    for spec, value in zip(signature.output_specs, values, strict=True):
        name = getattr(spec.arg, "name", None)
        if isinstance(value, torch.fx.Node) and name is not None and value.name != name:
            yield Violation(NAME, "an output of the signature is another node", name)


def _ranges(program: ExportedProgram) -> Iterator[Violation]:
    ranges = program.range_constraints
    for node in program.graph.nodes:
        value = node.meta.get("val")
        if node.op != "placeholder" or not isinstance(value, torch.Tensor):
            continue
        for size in value.shape:
            if not isinstance(size, torch.SymInt):
                continue
            symbol, hint = size.node.expr, size.node.hint
            limits = ranges.get(symbol)
            if symbol.is_Symbol and limits is None:
                yield Violation(NAME, "a symbolic size has no range", node.name, str(symbol))
            elif limits and hint is not None and not limits.lower <= hint <= limits.upper:
                yield Violation(NAME, "a size is out of its range", node.name, str(symbol))


def _is_stored(spec: torch.export.graph_signature.InputSpec) -> bool:
    return spec.kind.name in ("PARAMETER", "BUFFER", "CONSTANT_TENSOR")


def _short(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
