"""Does each node's ``meta["val"]`` describe what the graph computes there?

The graph as it stands is run on fake tensors in a mode of its own, from the placeholders' values, and
what comes out is compared in type, shape, dtype, dim order and strides.
"""

from __future__ import annotations

from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.export import ExportedProgram
from torch.utils import _pytree as pytree

from reducer.core.diagnosis import Violation
from reducer.lowering.fx.targets import operator_of
from reducer.lowering.watch.invariants.concrete import Unknown, leaves, number, sizes
from reducer.lowering.watch.invariants.observation import Skipped, new_among
from reducer.lowering.watch.view import View

NAME = "metadata"
DEAR = True
OF_THE_GRAPH = True

_VAL = 'meta["val"]'


def observe(view: View, program: ExportedProgram | None) -> list[Violation]:
    """One violation for each node of the graph whose description is not what it computes."""
    return _Propagation(view.module).violations()


def alone(seen: list[Violation] | Skipped) -> list[Violation]:
    """What does not hold of one graph by itself."""
    return [] if isinstance(seen, Skipped) else seen


def caused(was: list[Violation] | Skipped, now: list[Violation] | Skipped) -> list[Violation]:
    """Descriptions that became wrong."""
    return new_among(alone(was), alone(now))


class _Propagation:
    """Runs a graph on fake tensors, node by node."""

    def __init__(self, module: torch.fx.GraphModule) -> None:
        self.module = module
        self.mode = FakeTensorMode(allow_non_fake_inputs=True)
        self.values: dict[torch.fx.Node, Any] = {}
        self.unknown: set[torch.fx.Node] = set()

    def violations(self) -> list[Violation]:
        """Run it, and compare on the way."""
        found = []
        for node in self.module.graph.nodes:
            if node.op == "output":
                break
            described = node.meta.get("val")
            try:
                computed = self._value(node, described)
                self.values[node] = computed
                if node.op == "call_function" and described is not None:
                    difference = _difference(described, computed)
                    found += [Violation(NAME, what, node.name, how) for what, how in difference]
            except (
                Exception
            ):  # needs data, or has no kernel for fake tensors: believe its description
                self._believe(node, described)
        return found

    def _value(self, node: torch.fx.Node, described: Any) -> Any:
        if node.op == "placeholder":
            return pytree.tree_map(self._own, described)
        if node.op == "get_attr":
            return self._own(getattr(self.module, str(node.target)))
        if node.op != "call_function" or not self.unknown.isdisjoint(node.all_input_nodes):
            raise Unknown
        arguments = torch.fx.node.map_arg((node.args, dict(node.kwargs)), self.values.__getitem__)
        args, kwargs = pytree.tree_map(number, arguments)
        if (written := _written(node.target)) and kwargs.keys() >= set(written):
            return [kwargs[name] for name in written]  # it returns what it was given
        if _is_opaque(node.target):
            raise Unknown
        with self.mode:
            return node.target(*args, **kwargs)

    def _believe(self, node: torch.fx.Node, described: Any) -> None:
        try:
            self.values[node] = pytree.tree_map(self._own, described)
        except Unknown:
            self.unknown.add(node)

    def _own(self, value: Any) -> Any:
        """The value in this mode, of the same layout. A constant stays one: its numbers may count."""
        if not isinstance(value, torch.Tensor):
            return number(value)
        real = value.constant if isinstance(value, FakeTensor) else value
        if real is not None and not isinstance(real, FakeTensor):
            return self.mode.fake_tensor_converter.from_real_tensor(
                self.mode, real.detach(), make_constant=True
            )
        shape, strides = sizes(value)
        with self.mode:
            return torch.empty_strided(shape, strides, dtype=value.dtype, device=value.device)


def _written(target: Any) -> list[str]:
    """Names of an out-variant's ``out`` arguments, in order."""
    schema = getattr(operator_of(target), "_schema", None)
    return [argument.name for argument in schema.arguments if argument.is_out] if schema else []


def _is_opaque(target: Any) -> bool:
    """Memory (of the size of the largest input, in no particular dim order), or a delegate.

    To run a delegate, even on fake tensors, is to run its program, which may write to its buffers.
    """
    name = getattr(target, "__name__", "")
    return name == "executorch_call_delegate" or _module(target) == "executorch.exir.memory"


def _module(target: Any) -> str:
    return str(getattr(target, "__module__", ""))


def _difference(described: Any, computed: Any) -> list[tuple[str, str]]:
    """The first thing that differs, in words without numbers, and how; empty if nothing does."""
    said, found = leaves(described), leaves(computed)
    if len(said) != len(found):
        return [(f"{_VAL} has another number of values", f"{len(said)} instead of {len(found)}")]
    for one, other in zip(said, found, strict=True):
        if isinstance(one, torch.Tensor) != isinstance(other, torch.Tensor):
            if one is None or other is None:
                continue
            return [(f"{_VAL} is of another type", type(one).__name__)]
        if isinstance(one, torch.Tensor) and (difference := _tensors(one, other)):
            return [difference]
    return []


def _tensors(one: torch.Tensor, other: torch.Tensor) -> tuple[str, str] | None:
    if one.dtype != other.dtype:
        return f"{_VAL} has another dtype", f"{one.dtype} instead of {other.dtype}"
    (shape, strides), (real_shape, real_strides) = sizes(one), sizes(other)
    if shape != real_shape:
        return f"{_VAL} has another shape", f"{shape} instead of {real_shape}"
    told, true = _steps(shape, strides), _steps(shape, real_strides)
    if 0 in shape or told == true:
        return None
    what = "strides" if _order(told) == _order(true) else "dim order"
    return f"{_VAL} has another {what}", f"{strides} instead of {real_strides}"


def _steps(shape: tuple[int, ...], strides: tuple[int, ...]) -> list[tuple[int, int]]:
    """(dimension, stride) where the stride means anything."""
    return [(axis, step) for axis, step in enumerate(strides) if shape[axis] > 1]


def _order(steps: list[tuple[int, int]]) -> list[int]:
    return [axis for axis, _ in sorted(steps, key=lambda pair: -pair[1])]
