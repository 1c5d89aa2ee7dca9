"""Which case does a graph in the middle of lowering stand for?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils import _pytree as pytree

from reducer.core.case import Case, Graph, Input, Spec, Symbol, TensorSpec
from reducer.core.recipe import Recipe
from reducer.lowering.data import DataStore
from reducer.lowering.errors import SubjectError
from reducer.lowering.fx.from_fx import Reader, argument_of, spec_of, symbols_of
from reducer.lowering.watch.view import View

_ROLES = {"PARAMETER": "parameter", "BUFFER": "buffer", "CONSTANT_TENSOR": "buffer"}


def case_from_view(view: View, recipe: Recipe, data: DataStore) -> Case:
    """The graph as it stands, as a case; ``recipe`` says which pass is run on it.

    Raises SubjectError for what a case cannot say (delegates, tensors that are attributes).
    """
    return _GraphReader(view, recipe, data).graph_case()


class _GraphReader(Reader):
    """Reads placeholders by what they carry, and returns what the graph returns."""

    def __init__(self, view: View, recipe: Recipe, data: DataStore) -> None:
        super().__init__(view.program, recipe, data)
        self.view = view

    def graph_case(self) -> Case:
        """The whole graph."""
        module = self.view.module
        self.used = {node.name for node in module.graph.nodes}
        specs = self.view.specs or [None] * len(self.view.placeholders)
        inputs = [
            self._placeholder(node, spec)
            for node, spec in zip(self.view.placeholders, specs, strict=True)
        ]
        nodes = self.nodes(module, {})
        (returned,) = module.graph.output_node().args
        outputs = [argument_of(value, {}, {}) for value in pytree.tree_leaves(returned)]
        ranges = self.view.program.range_constraints if self.view.program else {}
        return Case(
            graph=Graph(tuple(inputs), tuple(nodes), tuple(outputs)),
            recipe=self.recipe,
            subgraphs=tuple(self.subgraphs),
            symbols=(*symbols_of(self.view.placeholders, ranges), *self._fixed()),
            schemas=dict(sorted(self.schemas.items())),
        )

    def _placeholder(self, node: torch.fx.Node, spec: Any) -> Input:
        value = node.meta.get("val")
        if not isinstance(value, torch.Tensor):
            if not isinstance(value, int | float | bool | torch.SymInt):
                raise SubjectError(f"placeholder {node.name} is described as {value!r:.40}")
            number = value if isinstance(value, int | float | bool) else 1
            return Input(node.name, "input", spec_of(value), value=number)
        carried = value.constant if isinstance(value, FakeTensor) else None
        if carried is not None:
            return Input(node.name, "constant", spec_of(carried), self.data.fill(carried))
        stored = self.view.stored(spec) if spec is not None else None
        if stored is None:
            return Input(node.name, "input", _as_created(value))
        role = _ROLES.get(spec.kind.name, "input")
        persistent = spec.persistent is not False
        return Input(node.name, role, spec_of(value), self.data.fill(stored), persistent)

    def _fixed(self) -> list[Symbol]:
        """Symbols of the user's inputs that have become one number since."""
        values = (node.meta.get("val") for node in self.view.placeholders)
        sizes = [size for v in values if isinstance(v, torch.Tensor) for size in v.shape]
        found = {name: int(size.node.expr) for size in sizes if (name := _created(size))}
        return [Symbol(name, number, fixed=True) for name, number in sorted(found.items())]


def _as_created(value: torch.Tensor) -> Spec:
    """The spec of a placeholder; a symbol in its shape stays one even if it stands for one number."""
    spec = spec_of(value)
    assert isinstance(spec, TensorSpec)
    created = zip(value.shape, spec.shape, strict=True)
    return replace(spec, shape=tuple(_created(size) or known for size, known in created))


def _created(size: Any) -> str:
    """The symbol as which a size was created, if it has become a number since; else ""."""
    if not isinstance(size, torch.SymInt) or not size.node.expr.is_number:
        return ""
    created = size.node._expr
    return str(created) if created.is_Symbol else ""
