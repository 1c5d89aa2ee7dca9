"""What does each value of a graph depend on? In-place writes and effects included.

Dependencies are those of a program that executes in order: a value depends on its arguments and on
every earlier write to memory that it may share. Which arguments an operator writes to, and which
its results are views of, is read from its schema.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from reducer.core.case import Case, Graph, Input, Node, Spec, node_references, references
from reducer.graph.schema import Schema, parse_schema


@dataclass
class Edges:
    """Who depends on whom: per value, the values before and after it, each once, in order."""

    before: dict[str, dict[str, None]] = field(default_factory=dict)
    after: dict[str, dict[str, None]] = field(default_factory=dict)

    def add(self, name: str) -> None:
        """Add a value."""
        self.before.setdefault(name, {})
        self.after.setdefault(name, {})

    def join(self, first: str, then: str) -> None:
        """Let ``then``, which was added, depend on ``first``."""
        self.add(first)
        self.after[first][then] = None
        self.before[then][first] = None


class Topology:
    """Dependencies between the values of one graph."""

    def __init__(self, graph: Graph, schemas: Mapping[str, str]) -> None:
        self.graph = graph
        self.schemas = schemas

    @cached_property
    def nodes(self) -> dict[str, Node]:
        """Operator calls by name, in order."""
        return {node.name: node for node in self.graph.nodes}

    @cached_property
    def inputs(self) -> dict[str, Input]:
        """Inputs by name, in order."""
        return {item.name: item for item in self.graph.inputs}

    @cached_property
    def reads(self) -> dict[str, tuple[str, ...]]:
        """Per call the values that it reads, repeats included."""
        return {node.name: tuple(node_references(node)) for node in self.graph.nodes}

    @cached_property
    def dependencies(self) -> Edges:
        """Edges run from a value to what reads it, and from a write to later readers of its memory."""
        edges = Edges()
        for name in self.inputs:
            edges.add(name)
        memory: dict[str, str] = {name: name for name in self.inputs}
        writers: dict[str, list[str]] = {}
        for node in self.graph.nodes:
            edges.add(node.name)
            for name in self.reads[node.name]:
                edges.join(name, node.name)
                for writer in writers.get(memory.get(name, name), ()):
                    if writer != node.name:
                        edges.join(writer, node.name)
            memory[node.name] = memory.get(next(self.viewed(node), node.name), node.name)
            for name in self.written(node):
                writers.setdefault(memory.get(name, name), []).append(node.name)
        return edges

    def schema(self, node: Node) -> Schema | None:
        """The operator's schema; None for control flow and Python functions."""
        text = self.schemas.get(node.target)
        return parse_schema(text) if text else None

    def written(self, node: Node) -> Iterator[str]:
        """Names of the values whose memory the node writes to."""
        schema = self.schema(node)
        if schema is not None and schema.writes:
            for argument, value in schema.bind(node):
                if argument.is_write:
                    yield from references(value)

    def viewed(self, node: Node) -> Iterator[str]:
        """Names of the values whose memory the node's result may share."""
        schema = self.schema(node)
        if schema is None:
            # getitem of a list of views, or an operator without a schema: assume the first argument.
            yield from references(node.args[:1])
            return
        if schema.shared:
            for argument, value in schema.bind(node):
                if schema.shared & set(argument.alias):
                    yield from references(value)

    @cached_property
    def effects(self) -> tuple[str, ...]:
        """Names of the calls that matter although nothing reads them: writes and assertions."""
        return tuple(node.name for node in self.graph.nodes if self.is_effect(node))

    def is_effect(self, node: Node) -> bool:
        """Whether the call does something besides computing its value."""
        schema = self.schema(node)
        return schema is not None and (not schema.returns or any(True for _ in self.written(node)))

    def is_assertion(self, node: Node) -> bool:
        """Whether the call only checks something: it returns nothing and writes nothing."""
        schema = self.schema(node)
        return (
            schema is not None and not schema.returns and not any(True for _ in self.written(node))
        )

    def assertions_about(self, values: Collection[str], without: Collection[str] = ()) -> set[str]:
        """Assertions that speak only of these values and inputs, and the conditions they compute.

        Those named in ``without`` are left out, with their conditions.

        >>> from reducer.core.case import Input, Ref
        >>> graph = Graph((Input("x", "input", None),), (
        ...     Node("p", "aten.item.default", (Ref("x"),)), Node("c", "operator:ge", (Ref("p"), 0)),
        ...     Node("a", "aten._assert_scalar.default", (Ref("c"), "p >= 0"))), ())
        >>> known = {"aten._assert_scalar.default": "aten::_assert_scalar(Scalar self, str msg) -> ()"}
        >>> sorted(Topology(graph, known).assertions_about({"p"}))
        ['a', 'c']
        """
        found: set[str] = set()
        for name in self.effects:
            if name in without or not self.is_assertion(self.nodes[name]):
                continue
            conditions = self._computed_for(name)
            about = self.cone([name]) - conditions
            if about and all(value in values or value in self.inputs for value in about):
                found |= conditions
        return found

    def _computed_for(self, name: str) -> set[str]:
        """An assertion and the comparisons of numbers that nothing but it reads."""
        found = {name}
        for node in reversed(self.graph.nodes):
            if ":" not in node.target or not self.users(node.name) or node.name in self._returned:
                continue
            if set(self.users(node.name)) <= found:
                found.add(node.name)
        return found

    @cached_property
    def _returned(self) -> set[str]:
        return set(output_names(self.graph))

    def cone(self, names: Iterable[str]) -> set[str]:
        """The values themselves and all that they depend on."""
        found: set[str] = set()
        before = self.dependencies.before
        pending = [name for name in names if name in before]
        while pending:
            name = pending.pop()
            if name not in found:
                found.add(name)
                pending.extend(before[name])
        return found

    def users(self, name: str) -> list[str]:
        """Names of the calls that read the value, in no particular order."""
        return list(self.dependencies.after[name])

    @cached_property
    def from_outside(self) -> set[str]:
        """Values that depend on what the caller passes; all others are constants of the program."""
        roots = [item.name for item in self.graph.inputs if item.role == "input"]
        found: set[str] = set()
        pending = list(roots)
        while pending:
            name = pending.pop()
            if name not in found:
                found.add(name)
                pending.extend(self.dependencies.after[name])
        return found

    def spec(self, name: str) -> Spec:
        """Shape and dtype of a value. Raises KeyError."""
        return self.nodes[name].spec if name in self.nodes else self.inputs[name].spec


def topology(case: Case, graph: Graph | None = None) -> Topology:
    """Topology of the case's main graph, or of one of its subgraphs."""
    return Topology(graph or case.graph, case.schemas)


def output_names(graph: Graph) -> list[str]:
    """Names of the values that the graph returns, in order, repeats included."""
    return [name for output in graph.outputs for name in references(output)]
