"""What does a check see of a program between two passes?"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.export import ExportedProgram
from torch.export.graph_signature import InputSpec
from torch.utils import _pytree as pytree


@dataclass(frozen=True)
class View:
    """A graph as it stands, with the program that it belongs to if that is known.

    ``whole`` says that the program's own graph is looked at: its signature has to fit exactly.
    """

    module: torch.fx.GraphModule
    program: ExportedProgram | None = None
    whole: bool = False

    @cached_property
    def nodes(self) -> list[torch.fx.Node]:
        """Nodes of the graph and of the graphs that it holds (branches, loop bodies)."""
        return [node for module in self.modules for node in module.graph.nodes]

    @cached_property
    def modules(self) -> list[torch.fx.GraphModule]:
        """The graph module, and those of control flow that it calls; not those of delegates."""
        found = [self.module]
        for module in found:
            for node in module.graph.nodes:
                if node.op == "get_attr":
                    inner = getattr(module, str(node.target), None)
                    if isinstance(inner, torch.fx.GraphModule) and inner not in found:
                        found.append(inner)
        return found

    @cached_property
    def placeholders(self) -> list[torch.fx.Node]:
        """The graph's inputs."""
        return [node for node in self.module.graph.nodes if node.op == "placeholder"]

    @cached_property
    def specs(self) -> list[InputSpec] | None:
        """For each placeholder what the program's signature says of it; None if they do not fit."""
        if self.program is None:
            return None
        specs = list(self.program.graph_signature.input_specs)
        named = {getattr(spec.arg, "name", ""): spec for spec in specs}
        if all(node.name in named for node in self.placeholders):
            return [named[node.name] for node in self.placeholders]
        # A pass may rename what it traces again; it keeps the order.
        return specs if len(specs) == len(self.placeholders) else None

    def stored(self, spec: InputSpec) -> torch.Tensor | None:
        """The parameter, buffer or constant that an input stands for; None for the caller's."""
        assert self.program is not None
        for table in (self.program.state_dict, self.program.constants):
            if spec.target is not None and isinstance(table.get(spec.target), torch.Tensor):
                return table[spec.target]
        return None

    @cached_property
    def modes(self) -> list[FakeTensorMode]:
        """The fake modes of all values, in the order in which they first occur."""
        found = (value.fake_mode for node in self.nodes for value in fake_values(node))
        return list({id(mode): mode for mode in found}.values())

    @cached_property
    def digest(self) -> str:
        """Twelve hexadecimal digits that change with operators, arguments, and described values."""
        text = "\n".join(_lines(self.nodes))
        return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()[:12]

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """Equal for equal graphs in an equal state: same modes, same tensors, unwritten since.

        Of the metadata: the values' descriptions, and which keys there are. Of a whole program also its
        signature.
        """
        modes = tuple(id(value.fake_mode) for node in self.nodes for value in fake_values(node))
        state = tuple(
            # those of inference mode have no version
            (id(tensor), -1 if tensor.is_inference() else tensor._version)
            for tensor in self.tensors
        )
        names = tuple(node.name for node in self.nodes)
        marks = frozenset(key for node in self.nodes for key in node.meta)
        form = str(self.program.graph_signature) if self.whole and self.program else ""
        return self.digest, names, modes, state, marks, form

    @cached_property
    def tensors(self) -> list[torch.Tensor]:
        """Parameters, buffers and constants that the graph reads."""
        held = [
            getattr(module, str(node.target), None)
            for module in self.modules
            for node in module.graph.nodes
            if node.op == "get_attr"
        ]
        stored = [self.stored(spec) for spec in self.specs or ()]
        return [tensor for tensor in held + stored if isinstance(tensor, torch.Tensor)]


def fake_values(node: torch.fx.Node) -> list[FakeTensor]:
    """The fake tensors among a node's values, those in lists and tuples too."""
    value = node.meta.get("val")
    if isinstance(value, FakeTensor):
        return [value]
    if isinstance(value, list | tuple | dict):
        return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, FakeTensor)]
    return []


def graph_in(things: Iterable[Any]) -> torch.fx.GraphModule | ExportedProgram | None:
    """The first program, or graph module, among arguments or results."""
    kinds = (torch.fx.GraphModule, ExportedProgram)
    return next((thing for thing in things if isinstance(thing, kinds)), None)


def graph_after(
    result: Any, given: torch.fx.GraphModule | ExportedProgram
) -> torch.fx.GraphModule | ExportedProgram:
    """What a pass leaves: the program or graph in its result, else what it was given."""
    parts = (
        result,
        getattr(result, "exported_program", None),
        getattr(result, "graph_module", None),
    )
    return graph_in(result if type(result) is tuple else parts) or given


def _lines(nodes: list[torch.fx.Node]) -> Iterator[str]:
    places: dict[torch.fx.Node, int] = {node: number for number, node in enumerate(nodes)}
    for node in nodes:
        arguments = pytree.tree_map_only(
            torch.fx.Node, lambda arg: f"%{places.get(arg, -1)}", (node.args, _plain(node.kwargs))
        )
        yield f"{node.op} {node.target} {arguments} {_described(node.meta.get('val'))}"


def _plain(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    return dict(kwargs)


def _described(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return (
            f"{value.dtype}{tuple(value.shape)}{tuple(value.stride())}" if _strided(value) else ""
        )
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_described, value))}]"
    return str(value)


def _strided(value: torch.Tensor) -> bool:
    return value.layout is torch.strided
