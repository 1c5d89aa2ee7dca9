"""Which of two cases is simpler? One total order; a search only ever moves down in it."""

from __future__ import annotations

import math
from collections.abc import Iterator

from reducer.core import text
from reducer.core.case import (
    GETITEM,
    Argument,
    Case,
    Graph,
    Input,
    Node,
    Ref,
    Spec,
    TensorSpec,
)
from reducer.core.python_source import weight

_DTYPES = ("float32", "int64", "bool", "int32", "float64")
_FILLS = ("zeros", "ones", "full", "random", "literal", "data")
_ROLES = ("input", "constant", "buffer", "parameter")


def sort_key(case: Case) -> tuple[int, ...]:
    """Smaller is simpler: operators first, then what surrounds them, then numbers, then text."""
    return tuple(_measures(case))


def is_simpler(case: Case, than: Case) -> bool:
    """Whether ``case`` comes before ``than`` in the order: asks no more measures than tell them apart."""
    pairs = zip(_measures(case), _measures(than), strict=True)
    return next((mine < other for mine, other in pairs if mine != other), False)


def _measures(case: Case) -> Iterator[int]:
    """One number after the other: cheap ones that mostly decide come first."""
    if case.source:
        yield from weight(case.source)
        return
    graphs = [case.graph, *(graph for _, graph in case.subgraphs)]
    recipe, inputs = case.recipe, case.graph.inputs
    yield case.operators
    yield sum(len(graph.nodes) for graph in graphs)
    yield sum(len(graph.outputs) for graph in graphs)
    yield sum(len(graph.inputs) for graph in graphs)
    yield len(case.symbols)
    yield len(case.checks)
    yield sum((symbol.minimum > 0) + (symbol.maximum is not None) for symbol in case.symbols)
    passes = len(recipe.alone.after) if recipe.alone else 0
    yield len(recipe.transform_passes) + recipe.two_steps + passes
    options = (recipe.partitioners, recipe.transform_passes, recipe.compile_config)
    yield len(text.dumps((*options, recipe.executorch_config, recipe.modules, recipe.definitions)))
    yield sum(_elements(item.spec) for item in inputs)
    yield sum(symbol.hint for symbol in case.symbols)
    yield sum(len(check.fills) for check in case.checks)
    yield sum(size for check in case.checks for _, size in check.sizes)
    yield sum(_input_rank(item) for item in inputs)
    yield sum(operator_rank(node.target) for graph in graphs for node in graph.nodes)
    yield sum(_arguments(graph) for graph in graphs)
    yield sum(_magnitude(graph) for graph in graphs)
    yield 0 if case.structure is None else 1
    yield len(text.dumps(graphs))


#: The operator that reads best: every reader knows it, and no backend treats it specially.
PLAINEST_OPERATOR = "aten.mul.Tensor"


def operator_rank(target: str) -> int:
    """0 for the plainest operator (and for taking an item), 1 for all others."""
    return 0 if target in (PLAINEST_OPERATOR, GETITEM) else 1


def _elements(spec: Spec) -> int:
    return spec.elements if isinstance(spec, TensorSpec) else 1


def _input_rank(item: Input) -> int:
    rank = _FILLS.index(item.fill.kind) * 8 + _ROLES.index(item.role)
    if isinstance(item.spec, TensorSpec):
        known = item.spec.dtype in _DTYPES
        rank += 64 * (_DTYPES.index(item.spec.dtype) if known else len(_DTYPES))
        rank += 512 * len(item.spec.shape) + (32 if item.spec.stride is not None else 0)
    return rank


def _arguments(graph: Graph) -> int:
    return sum(len(node.args) + len(node.kwargs) for node in graph.nodes)


def _magnitude(graph: Graph) -> int:
    return sum(_node_weight(node) for node in graph.nodes)


def _node_weight(node: Node) -> int:
    if node.target == GETITEM:  # the first result is the plainest
        return 2 * int(node.args[1]) if isinstance(node.args[1], int) else 0
    return argument_weight((node.args, tuple(value for _, value in node.kwargs)))


def argument_weight(argument: Argument) -> int:
    """How far an argument is from the plainest one: small whole numbers, the dtype float32.

    >>> [argument_weight(number) for number in (1, -1, 0, 2, -3, 1e-05)]
    [0, 0, 1, 4, 7, 2000000]
    """
    if isinstance(argument, tuple):
        return sum(argument_weight(item) for item in argument)
    if argument is None or isinstance(argument, bool | Ref):
        return 0
    if isinstance(argument, int | float):
        # 1 (and -1, the last axis) read best; 0 often makes a call pointless, so it comes after them.
        whole = math.isfinite(argument) and abs(argument) < 10**6 and argument == int(argument)
        size = abs(int(argument)) if whole else 10**6
        return {0: 1, 1: 0}.get(size, 2 * size + (argument < 0))
    kind = getattr(argument, "kind", "")
    if kind == "dtype":
        known = argument.text in _DTYPES  # type: ignore[union-attr]
        return 1 + (_DTYPES.index(argument.text) if known else len(_DTYPES))  # type: ignore[union-attr]
    return 1
