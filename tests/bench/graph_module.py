"""Which case is a graph module with its inputs? For tools that work on those (imports torch)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from reducer.core.case import Argument, Case, Fill, Graph, Input, Node
from reducer.lowering.data import DataStore
from reducer.lowering.fx.from_fx import Reader, argument_of, spec_of
from tests.bench.task import Task


class Reading:
    """Turns the candidates of one search into cases; a tensor's numbers are stored once.

    What a module holds stays held by it, with the role that it has in the captured case.
    """

    def __init__(self, task: Task) -> None:
        self.start = task.case
        self._data = DataStore(task.data_dir)
        self._fills: dict[int, tuple[torch.Tensor, Fill]] = {}

    def case(self, module: torch.fx.GraphModule, inputs: Sequence[Any]) -> Case:
        """The module as a case that is lowered as the captured one is.

        Raises SubjectError for what a case cannot say.
        """
        reader = Reader(None, self.start.recipe, self._data)
        reader.used = {node.name for node in module.graph.nodes}
        given, graphs = iter(inputs), dict[str, str]()
        found, calls = list[Input](), list[Node]()
        returned: Any = ()
        for node in module.graph.nodes:
            if node.op == "placeholder":
                found.append(self._input(node.name, next(given), "input"))
            elif node.op == "get_attr" and isinstance(
                held := _attribute(module, node), torch.Tensor
            ):
                found.append(self._input(node.name, held, _role(held)))
            elif node.op == "get_attr":
                graphs[node.name] = reader._attribute(module, node)
            elif node.op == "call_function":
                calls.append(reader._node(node, {}, graphs))
            elif node.op == "output":
                returned = node.args[0]
        leaves = torch.utils._pytree.tree_leaves(returned)
        outputs: list[Argument] = [argument_of(leaf, {}, {}) for leaf in leaves]
        return Case(
            Graph(tuple(found), tuple(calls), tuple(outputs)),
            self.start.recipe,
            subgraphs=tuple(reader.subgraphs),
            schemas=dict(sorted(reader.schemas.items())),
        )

    def _input(self, name: str, value: Any, role: str) -> Input:
        if not isinstance(value, torch.Tensor):
            return Input(name, role, spec_of(value), value=value)
        known = self._fills.get(id(value))
        if known is None:
            known = self._fills[id(value)] = value, self._data.fill(value)
        return Input(name, role, spec_of(value), known[1])


def _attribute(module: torch.nn.Module, node: torch.fx.Node) -> Any:
    owner: Any = module
    for part in str(node.target).split("."):
        owner = getattr(owner, part)
    return owner


def _role(held: torch.Tensor) -> str:
    return "parameter" if isinstance(held, torch.nn.Parameter) else "buffer"
