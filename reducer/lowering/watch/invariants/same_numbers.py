"""Does the graph compute the same as before the pass?

It is run by torch on the example inputs, or on drawn ones where there are none (a delegate's program);
parameters, buffers and constants are the program's own. This finds a pass that miscompiles for a backend
whose runtime is not on this machine. What torch cannot run is skipped, with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.utils import _pytree as pytree

from reducer.core.diagnosis import Violation
from reducer.lowering.fx.targets import operator_of
from reducer.lowering.watch.invariants.concrete import Unknown, leaves, number, sizes
from reducer.lowering.watch.invariants.observation import Skipped
from reducer.lowering.watch.view import View

NAME = "same-numbers"
DEAR = True
OF_THE_GRAPH = True

#: Largest difference that counts as rounding, as a share of the largest number that is expected:
#: in ordinary graphs, in quantised ones (sound ones differ by under one percent), in half precision.
_ROUNDING, _QUANTISED, _HALF = 1e-3, 3e-2, 1e-2


@dataclass(frozen=True)
class Numbers:
    """What a graph returned, how exact it claims to be, and which marks its nodes bear."""

    outputs: list[Any]
    rounding: float
    marks: frozenset[str] = frozenset()


def observe(view: View, program: ExportedProgram | None) -> Numbers | Skipped:
    """Run the graph; says why where that cannot be."""
    if any(torch.Tag.nondeterministic_seeded in _tags(node.target) for node in view.nodes):
        return Skipped("draws random numbers")
    if any(_writes_to_itself(view, node) for node in view.nodes):
        return Skipped("a delegate writes to a buffer of its own, which running it would change")
    try:
        inputs = _inputs(view)
    except Unknown:
        return Skipped("the size of an input depends on data")
    if inputs is None:
        return Skipped("it is not known which tensors belong to the placeholders")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        returned = torch.fx.Interpreter(view.module).run(*inputs, enable_io_processing=False)
    marks = frozenset(key for node in view.nodes for key in node.meta)
    return Numbers(leaves(returned), _rounding(view), marks)


def alone(seen: Numbers | Skipped) -> list[Violation]:
    """Nothing: numbers are neither right nor wrong by themselves."""
    return []


def caused(was: Numbers | Skipped, now: Numbers | Skipped) -> list[Violation]:
    """Outputs that differ by more than rounding, if both graphs return as many."""
    if isinstance(was, Skipped) or isinstance(now, Skipped):
        return []
    if len(was.outputs) != len(now.outputs):  # a pass that returns buffers as well, or no longer
        return []
    if not now.marks <= was.marks:
        # A backend's pass that folds an operator into a mark on its neighbour: torch runs the graph
        # without what the mark means, so a difference says nothing.
        return []
    rounding = max(was.rounding, now.rounding)
    for place, (one, other) in enumerate(zip(was.outputs, now.outputs, strict=True)):
        both = isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor)
        if both and (found := _difference(one, other, rounding)):
            return [Violation(NAME, found[0], detail=f"output {place}: {found[1]}")]
    return []


def _inputs(view: View) -> list[Any] | None:
    """A value for each placeholder; inputs that the graph may write to are copies."""
    if not view.placeholders:
        return []
    specs = view.specs
    if specs is None or view.program is None:
        return None
    examples = _examples(view.program)
    found = []
    writes = _writes(view)
    generator = torch.Generator().manual_seed(0)
    for node, spec in zip(view.placeholders, specs, strict=True):
        stored = view.stored(spec)
        if stored is not None:
            found.append(stored.detach().clone() if writes else stored.detach())
            continue
        example = examples.pop(0) if examples else None
        value = node.meta.get("val")
        if isinstance(example, torch.Tensor) and _fits(example, value):
            found.append(example.detach().clone())
        else:
            found.append(pytree.tree_map(lambda leaf: _drawn(leaf, generator), value))
    return found


def _writes(view: View) -> bool:
    """Whether running the graph may write to what it is given."""
    mutable = [getattr(operator_of(node.target), "_schema", None) for node in view.nodes]
    return any(schema is not None and schema.is_mutable for schema in mutable)


def _writes_to_itself(view: View, node: torch.fx.Node) -> bool:
    """Whether a node is a delegate's module that mutates a buffer."""
    if node.op != "get_attr":
        return False
    original = getattr(getattr(view.module, str(node.target), None), "original_module", None)
    return original is not None and bool(original.graph_signature.buffers_to_mutate)


def _examples(program: ExportedProgram) -> list[Any]:
    return pytree.tree_leaves(program.example_inputs) if program.example_inputs else []


def _fits(example: torch.Tensor, value: Any) -> bool:
    if not isinstance(value, torch.Tensor) or example.dtype != value.dtype:
        return False
    return tuple(example.shape) == sizes(value)[0]


def _drawn(value: Any, generator: torch.Generator) -> Any:
    """A tensor of a fake one's layout; integers are 0 or 1, which any table has as an index."""
    if not isinstance(value, torch.Tensor):
        return number(value)
    shape, strides = sizes(value)
    drawn = torch.empty_strided(shape, strides, dtype=value.dtype)
    if value.dtype.is_floating_point or value.dtype.is_complex:
        return drawn.copy_(torch.randn(shape, generator=generator))
    return drawn.copy_(torch.randint(0, 2, shape, generator=generator))


def _difference(one: torch.Tensor, other: torch.Tensor, rounding: float) -> tuple[str, str] | None:
    if one.shape != other.shape:
        return "an output has another shape", f"{tuple(other.shape)} instead of {tuple(one.shape)}"
    if one.numel() == 0:
        return None
    want, got = (tensor.detach().to(torch.complex128 if tensor.is_complex() else torch.float64)
                 for tensor in (one, other))  # fmt: skip
    finite = want.isfinite()
    if not torch.equal(finite, got.isfinite()):
        return "an output is nan or infinite in other places", ""
    if not finite.any():
        return None
    difference = (want - got)[finite].abs().max().item()
    scale = want[finite].abs().max().item()
    if difference > rounding * scale + 1e-9:
        return "an output has other numbers", f"differs by {difference:.3g} where it is {scale:.3g}"
    return None


def _rounding(view: View) -> float:
    values = [value for node in view.nodes for value in leaves(node.meta.get("val"))]
    dtypes = {value.dtype for value in values if isinstance(value, torch.Tensor)}
    if any("quant" in str(node.target) for node in view.nodes):
        return _QUANTISED
    return _HALF if dtypes & {torch.float16, torch.bfloat16} else _ROUNDING


def _tags(target: Any) -> list[torch.Tag]:
    found = getattr(operator_of(target), "tags", None)
    return list(found) if isinstance(found, list | set | tuple) else []
