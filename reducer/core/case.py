"""What is being reduced? A graph with its inputs, constants and lowering recipe, as plain data.

A :class:`Case` is made once from an ``ExportedProgram`` and rebuilt into FX only inside the
worker. So edits are pure functions, cases can be hashed, stored and sent to another interpreter,
and nothing here imports torch.

Notation
    A *value* is something a node computes or an input provides; it is named, and names are unique
    within a case, its subgraphs included. An *argument* is plain Python data in which
    :class:`Ref` stands for a value, :class:`Atom` for a torch constant (dtype, device, ...) and
    :class:`GraphRef` for a subgraph. Lists are tuples.

    A *target* names an operator: ``aten.add.Tensor`` (an ``OpOverload``),
    ``edge.aten.add.Tensor`` (the same in ExecuTorch's edge dialect, met only in the middle of
    lowering), ``higher_order.cond`` (a control-flow operator), or ``operator:getitem`` (a Python
    function, ``module:name``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Union

from reducer.core.python_source import statements
from reducer.core.recipe import Recipe


@dataclass(frozen=True)
class Ref:
    """The value called ``name``."""

    name: str


@dataclass(frozen=True)
class GraphRef:
    """The subgraph called ``name``, as an argument of a control-flow operator."""

    name: str


@dataclass(frozen=True)
class Atom:
    """A torch constant that is not plain Python data.

    ``kind`` is one of ``dtype``, ``device``, ``layout``, ``memory_format``, ``complex``;
    ``text`` is its name without ``torch.``, e.g. ``float32`` or ``cpu``.
    """

    kind: str
    text: str


Argument = Union[None, bool, int, float, str, Ref, GraphRef, Atom, "tuple[Argument, ...]"]

#: A size: a number, or an expression in symbols such as ``s0`` or ``2*s0``.
Size = int | str


@dataclass(frozen=True)
class TensorSpec:
    """Shape, dtype and strides of a tensor (all in elements).

    ``stride`` is None for the contiguous layout, so equal layouts compare equal.
    """

    shape: tuple[Size, ...]
    dtype: str
    stride: tuple[Size, ...] | None = None

    @property
    def elements(self) -> int:
        """Number of elements; a symbolic size counts as 2."""
        count = 1
        for size in self.shape:
            count *= size if isinstance(size, int) else 2
        return count


@dataclass(frozen=True)
class ScalarSpec:
    """A Python number: ``type`` is ``int``, ``float`` or ``bool``; ``symbol`` names it if symbolic."""

    type: str
    symbol: str | None = None


Spec = Union[None, TensorSpec, ScalarSpec, "tuple[Spec, ...]"]


@dataclass(frozen=True)
class Fill:
    """Which numbers a tensor holds, without holding them.

    ``kind``
        ``zeros``, ``ones``: as they say. ``full``: the one number in ``values`` everywhere.
        ``random``: drawn with ``seed`` plus the input's place among the inputs: normal for floating
        and complex dtypes, else ``randint(0, 2)``.
        ``literal``: ``values``, row-major, for small tensors that matter.
        ``data``: the bytes stored in the case's data folder under ``digest`` (SHA-256).
    """

    kind: str
    seed: int = 0
    values: tuple[complex | float | int | bool, ...] = ()
    digest: str = ""

    @property
    def is_generated(self) -> bool:
        """Whether it suits any shape and dtype, since the numbers are made and not written down."""
        return self.kind in ("zeros", "ones", "full", "random")


@dataclass(frozen=True)
class Input:
    """A value that comes from outside the graph.

    ``role`` is ``input`` (given by the caller, in order), ``parameter``, ``buffer`` or
    ``constant`` (a tensor attribute that is neither). ``value`` is the number of a scalar input.
    ``made``: a reduction put it here, so its name says nothing to a reader.
    """

    name: str
    role: str
    spec: Spec
    fill: Fill = Fill("zeros")
    persistent: bool = True
    value: int | float | bool | None = None
    made: bool = False


@dataclass(frozen=True)
class Node:
    """One operator call. ``module`` is the path of the user's module that made it (may be empty)."""

    name: str
    target: str
    args: tuple[Argument, ...] = ()
    kwargs: tuple[tuple[str, Argument], ...] = ()
    spec: Spec = None
    module: str = ""


@dataclass(frozen=True)
class Graph:
    """Inputs, operator calls in topological order, and the values that are returned."""

    inputs: tuple[Input, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[Argument, ...]


@dataclass(frozen=True)
class Symbol:
    """A dynamic dimension: ``hint`` is its size in the example inputs; ``maximum`` None: unbounded.

    ``auto``: export finds range and relations itself (``Dim.AUTO``) instead of checking those given.
    In the middle of lowering a symbol may have become one number: its ``fixed`` says so.
    """

    name: str
    hint: int
    minimum: int = 0
    maximum: int | None = None
    auto: bool = False
    fixed: bool = False


@dataclass(frozen=True)
class Check:
    """A further set of inputs to run the ``.pte`` on: what differs from the example inputs.

    ``sizes``: (symbol, size). ``fills``: (input, its numbers); of other inputs they are made as in
    the example, in the size that it is here.
    """

    sizes: tuple[tuple[str, int], ...] = ()
    fills: tuple[tuple[str, Fill], ...] = ()


#: How outputs are nested: ``"*"`` a leaf, else ``(kind, child, ...)``; kind is ``tuple``, ``list``,
#: ``dict:key1,key2`` or ``named:torch.return_types.max``. None: one value bare, several as a tuple.
Structure = Union[None, str, "tuple[Structure, ...]"]


@dataclass(frozen=True)
class Case:
    """The thing that shrinks: a graph, its subgraphs, and how it is lowered.

    Where there is no graph yet, since the model fails before or during export, ``source`` is the Python
    that fails, and the graph is empty: it defines a function, named after the stage, that raises.

    ``schemas`` maps each operator target to its schema as torch prints it, so that questions about
    an operator (argument names, defaults, aliasing) need no torch.
    """

    graph: Graph
    recipe: Recipe
    subgraphs: tuple[tuple[str, Graph], ...] = ()
    symbols: tuple[Symbol, ...] = ()
    schemas: Mapping[str, str] = field(default_factory=dict)
    structure: Structure = None
    checks: tuple[Check, ...] = ()
    source: str = ""

    def __hash__(self) -> int:
        known = (self.graph, self.recipe, self.subgraphs, self.symbols, self.structure)
        return hash((*known, self.checks, self.source))

    def checked_by(self, check: Check) -> Case:
        """The case with the inputs of a check as its example inputs, and no check."""
        sizes, fills = dict(check.sizes), dict(check.fills)
        symbols = tuple(
            replace(symbol, hint=sizes.get(symbol.name, symbol.hint)) for symbol in self.symbols
        )
        inputs = tuple(
            replace(item, fill=fills.get(item.name) or _resized(item, sizes))
            for item in self.graph.inputs
        )
        graph = replace(self.graph, inputs=inputs)
        return replace(self, graph=graph, symbols=symbols, checks=())

    @property
    def operators(self) -> int:
        """Number of operator calls, those of subgraphs included; ``getitem`` is not an operator.

        Of a case in source: number of statements.
        """
        if self.source:
            return statements(self.source)
        graphs = [self.graph, *(graph for _, graph in self.subgraphs)]
        return sum(node.target != GETITEM for graph in graphs for node in graph.nodes)

    @property
    def unit(self) -> str:
        """What :attr:`operators` counts."""
        return "statement" if self.source else "operator"

    def subgraph(self, name: str) -> Graph:
        """The subgraph called ``name``. Raises KeyError."""
        return dict(self.subgraphs)[name]

    def with_graph(self, graph: Graph) -> Case:
        """The same case around another main graph."""
        return replace(self, graph=graph)


def _resized(item: Input, sizes: Mapping[str, int]) -> Fill:
    """The numbers of an input some of whose sizes are others now."""
    symbolic = isinstance(item.spec, TensorSpec) and any(
        isinstance(size, str) for size in item.spec.shape
    )
    kept = item.fill.is_generated or not (symbolic and sizes)
    return item.fill if kept else Fill("random")


GETITEM = "operator:getitem"


def references(argument: Argument) -> Iterator[str]:
    """Names of the values in an argument, in order, repeats included."""
    if isinstance(argument, Ref):
        yield argument.name
    elif isinstance(argument, tuple):
        for item in argument:
            yield from references(item)


def node_references(node: Node) -> Iterator[str]:
    """Names of the values that a node reads, in order, repeats included."""
    yield from references(node.args)
    for _, argument in node.kwargs:
        yield from references(argument)


def graph_references(argument: Argument) -> Iterator[str]:
    """Names of the subgraphs in an argument."""
    if isinstance(argument, GraphRef):
        yield argument.name
    elif isinstance(argument, tuple):
        for item in argument:
            yield from graph_references(item)


def substitute(argument: Argument, names: Mapping[str, Argument]) -> Argument:
    """The argument with every Ref (and GraphRef) that ``names`` knows replaced."""
    if isinstance(argument, Ref | GraphRef):
        return names.get(argument.name, argument)
    if isinstance(argument, tuple):
        return tuple(substitute(item, names) for item in argument)
    return argument


def substitute_node(node: Node, names: Mapping[str, Argument]) -> Node:
    """The node with every reference that ``names`` knows replaced."""
    return replace(
        node,
        args=tuple(substitute(argument, names) for argument in node.args),
        kwargs=tuple((key, substitute(argument, names)) for key, argument in node.kwargs),
    )
