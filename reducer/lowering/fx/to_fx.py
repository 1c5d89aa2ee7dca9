"""Which program does a case stand for? Rebuilt as an FX module and exported again."""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch.export import Dim
from torch.fx.graph import _PyTreeCodeGen, _PyTreeInfo

from reducer.core.case import (
    Argument,
    Atom,
    Case,
    Fill,
    Graph,
    GraphRef,
    Input,
    Ref,
    Size,
    Structure,
    TensorSpec,
    graph_references,
)
from reducer.core.sizes import apply_size
from reducer.lowering.data import DataStore
from reducer.lowering.errors import SubjectError
from reducer.lowering.fx.structure import assemble
from reducer.lowering.fx.targets import operator_of, resolve_target


def export_case(case: Case, data: DataStore) -> torch.export.ExportedProgram:
    """Export the rebuilt module. Raises whatever torch raises on a program that is not valid."""
    return export_module(build_module(case, data), case, data)


def export_module(
    module: torch.fx.GraphModule, case: Case, data: DataStore
) -> torch.export.ExportedProgram:
    """Export the module that was built of a case."""
    return torch.export.export(
        module,
        example_inputs(case, data),
        dynamic_shapes=dynamic_shapes(case),
        strict=False,
    )


def build_module(case: Case, data: DataStore) -> torch.fx.GraphModule:
    """An FX module with one ``call_function`` per node and attributes for all that is not an input."""
    root = torch.nn.Module()
    graphs = dict(case.subgraphs)
    names = attribute_names(case)
    for item in case.graph.inputs:
        if item.role != "input":
            _attach(root, replace(item, name=names[item.name]), make_tensor(item, case, data))
    return _graph_module(root, case.graph, graphs, case).eval()


def graph_of(case: Case) -> torch.fx.GraphModule:
    """The graph with a placeholder for each input; nothing is known of its values."""
    return _graph_module(torch.nn.Module(), case.graph, dict(case.subgraphs), None)


def attribute_names(case: Case) -> dict[str, str]:
    """How the module calls what it holds: without the prefix that export puts in front again.

    >>> from reducer.core.recipe import Recipe
    >>> held = Input("p_l_weight", "parameter", None), Input("x", "input", None)
    >>> attribute_names(Case(Graph(held, (), ()), Recipe()))
    {'p_l_weight': 'l_weight'}
    """
    held = [item.name for item in case.graph.inputs if item.role != "input"]
    taken = set(held) | set(dir(torch.nn.Module()))
    names = {}
    for name in held:
        bare = name[2:] if name[:2] in ("p_", "b_", "c_") else name
        free = bare.isidentifier() and bare not in taken and not keyword.iskeyword(bare)
        names[name] = bare if free else name
        taken.add(names[name])
    return names


def example_inputs(case: Case, data: DataStore) -> tuple[Any, ...]:
    """The inputs to export with, in order; symbolic sizes at their hints."""
    return tuple(
        make_tensor(item, case, data) if isinstance(item.spec, TensorSpec) else item.value
        for item in case.graph.inputs
        if item.role == "input"
    )


def check_sets(case: Case, data: DataStore) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Arguments of the further runs that the case asks for."""
    return [(example_inputs(case.checked_by(check), data), {}) for check in case.checks]


def dynamic_shapes(case: Case) -> tuple[Any, ...] | None:
    """What ``torch.export.export`` takes: per input the symbolic dims; None if all sizes are fixed."""
    if not case.symbols:
        return None
    dims = {
        symbol.name: Dim(symbol.name, min=symbol.minimum or None, max=symbol.maximum)
        for symbol in case.symbols
        if not symbol.auto
    }
    shapes: list[Any] = []
    for item in case.graph.inputs:
        if item.role != "input":
            continue
        if isinstance(item.spec, TensorSpec):
            entry = {
                axis: _dimension(size, dims)
                for axis, size in enumerate(item.spec.shape)
                if isinstance(size, str)
            }
            shapes.append(entry or None)
        else:
            symbolic = getattr(item.spec, "symbol", None) is not None
            shapes.append(Dim.DYNAMIC if symbolic else None)
    return tuple(shapes)


def make_tensor(item: Input, case: Case, data: DataStore) -> torch.Tensor:
    """The tensor that an input stands for, with the sizes, strides and numbers that it says."""
    spec = item.spec
    assert isinstance(spec, TensorSpec)
    hints = {symbol.name: symbol.hint for symbol in case.symbols}
    shape = [_evaluate(size, hints) for size in spec.shape]
    dtype = getattr(torch, spec.dtype)
    # Each tensor has random numbers of its own: of two equal ones the difference is nothing.
    place = [other.name for other in case.graph.inputs].index(item.name)
    tensor = _numbers(replace(item.fill, seed=item.fill.seed + place), shape, dtype, data)
    if spec.stride is not None:
        stride = [_evaluate(step, hints) for step in spec.stride]
        strided = torch.empty_strided(shape, stride, dtype=dtype)
        if 0 in stride:  # an expanded tensor: every copy of a number is the same memory
            first = tuple(slice(0, 1) if step == 0 else slice(None) for step in stride)
            strided[first].copy_(tensor[first])
        else:
            strided.copy_(tensor)
        tensor = strided
    return tensor


def _numbers(fill: Fill, shape: list[int], dtype: torch.dtype, data: DataStore) -> torch.Tensor:
    if fill.kind == "zeros":
        return torch.zeros(shape, dtype=dtype)
    if fill.kind == "ones":
        return torch.ones(shape, dtype=dtype)
    if fill.kind == "full":
        return torch.full(shape, fill.values[0]).to(dtype)
    if fill.kind == "literal":
        return torch.tensor(fill.values, dtype=dtype).reshape(shape)
    if fill.kind == "data":
        return data.load(fill.digest).reshape(shape)
    if fill.kind != "random":
        raise ValueError(f"unknown fill {fill.kind!r}")
    generator = torch.Generator().manual_seed(fill.seed)
    if dtype.is_floating_point or dtype.is_complex:
        base = (
            dtype if dtype in (torch.float64, torch.complex64, torch.complex128) else torch.float32
        )
        return torch.randn(shape, generator=generator, dtype=base).to(dtype)
    return torch.randint(0, 2, shape, generator=generator).to(dtype)


def _attach(root: torch.nn.Module, item: Input, tensor: torch.Tensor) -> None:
    if item.role == "parameter":
        grad = tensor.is_floating_point() or tensor.is_complex()
        root.register_parameter(item.name, torch.nn.Parameter(tensor, requires_grad=grad))
    elif item.role == "buffer":
        root.register_buffer(item.name, tensor, persistent=item.persistent)
    else:
        setattr(root, item.name, tensor)


def _graph_module(
    root: torch.nn.Module,
    graph: Graph,
    graphs: Mapping[str, Graph],
    case: Case | None,
    *,
    bare: bool = False,
) -> torch.fx.GraphModule:
    fx = torch.fx.Graph()
    names = attribute_names(case) if case is not None else {}
    values: dict[str, torch.fx.Node] = {}
    for item in graph.inputs:
        if item.role == "input":
            values[item.name] = fx.placeholder(item.name)
        else:
            values[item.name] = fx.get_attr(names[item.name])
    for node in graph.nodes:
        for place, name in enumerate(graph_references(node.args)):
            if name not in values:
                # a loop's condition returns its one value as it is, all other graphs a tuple
                condition = node.target == "higher_order.while_loop" and place == 0
                inner = _graph_module(torch.nn.Module(), graphs[name], graphs, None, bare=condition)
                root.add_module(name, inner)
                values[name] = fx.get_attr(name)
        target = resolve_target(node.target)
        as_list = isinstance(operator_of(target), torch._ops.OpOverload)
        args = tuple(_argument(argument, values, as_list) for argument in node.args)
        kwargs = {key: _argument(argument, values, as_list) for key, argument in node.kwargs}
        values[node.name] = fx.create_node("call_function", target, args, kwargs, name=node.name)
    outputs = [_argument(value, values, False) for value in graph.outputs]
    structure = case.structure if case is not None else None
    if structure is not None:
        fx.output(outputs)
        count = sum(item.role == "input" for item in graph.inputs)
        fx.set_codegen(
            _PyTreeCodeGen(_nesting(structure, [f"x{n}" for n in range(count)], outputs))
        )
    else:
        fx.output(
            outputs[0] if len(outputs) == 1 and (case is not None or bare) else tuple(outputs)
        )
    return torch.fx.GraphModule(root, fx)


def _nesting(structure: Structure, arguments: list[str], outputs: list[Any]) -> _PyTreeInfo:
    """What FX needs in order to return nested values that a graph itself cannot hold (named tuples)."""
    in_spec = pytree.tree_structure(((*arguments,), {}))
    nested = assemble(structure, [torch.zeros(()) for _ in outputs])
    return _PyTreeInfo(arguments, in_spec, pytree.tree_structure(nested))


def _argument(argument: Argument, values: Mapping[str, torch.fx.Node], as_list: bool) -> Any:
    if isinstance(argument, Ref | GraphRef):
        try:
            return values[argument.name]
        except KeyError:
            raise SubjectError(f"value {argument.name!r} is used before it is computed") from None
    if isinstance(argument, tuple):
        items = [_argument(item, values, as_list) for item in argument]
        return items if as_list else tuple(items)
    if isinstance(argument, Atom):
        if argument.kind == "device":
            return torch.device(argument.text)
        if argument.kind == "complex":
            return complex(argument.text)
        return getattr(torch, argument.text)
    return argument


def _dimension(size: str, dims: Mapping[str, Any]) -> Any:
    try:
        return apply_size(size, dims)
    except ValueError:
        return Dim.AUTO  # automatic, or not linear in one symbol: export finds the relation again


def _evaluate(size: Size, hints: Mapping[str, int]) -> int:
    return size if isinstance(size, int) else int(apply_size(size, hints))
