"""Which graph does a pass get to see? Made by hand from a case: nodes, and what is known of values.

All values belong to one ``FakeTensorMode``. What comes in is made from the case's tensors, what calls
give follows by running them on fake tensors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._dynamo.source import ConstantSource
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.export import ExportedProgram
from torch.export.exported_program import ModuleCallEntry, ModuleCallSignature
from torch.export.graph_signature import (
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    TensorArgument,
)
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv
from torch.utils import _pytree as pytree

from reducer.core.case import Case, Input, Size, TensorSpec
from reducer.core.sizes import apply_size
from reducer.lowering.data import DataStore
from reducer.lowering.errors import SubjectError
from reducer.lowering.fx.to_fx import graph_of, make_tensor

_KINDS = {
    "input": InputKind.USER_INPUT,
    "parameter": InputKind.PARAMETER,
    "buffer": InputKind.BUFFER,
    "constant": InputKind.CONSTANT_TENSOR,
}


@dataclass(frozen=True)
class ByHand:
    """A graph with its values described, and the tensors that its placeholders stand for, by name."""

    module: torch.fx.GraphModule
    tensors: dict[str, torch.Tensor]
    case: Case

    def program(self) -> ExportedProgram:
        """The program around the graph. Raises what torch raises on one that is not valid."""
        from executorch.exir import EdgeCompileConfig
        from executorch.exir.verification.verifier import EXIREdgeDialectVerifier

        unchecked = EdgeCompileConfig(_check_ir_validity=False)
        roles = {item.name: item.role for item in self.case.graph.inputs}
        stored = {name: value for name, value in self.tensors.items() if roles[name] != "input"}
        empty = pytree.tree_structure(((), {}))
        whole = ModuleCallSignature([], [], in_spec=empty, out_spec=pytree.tree_structure(()))
        return ExportedProgram(
            root=self.module,
            graph=self.module.graph,
            graph_signature=_signature(self.module, self.case.graph.inputs),
            state_dict={n: value for n, value in stored.items() if roles[n] != "constant"},
            range_constraints={},
            module_call_graph=[ModuleCallEntry("", whole)],
            constants={n: value for n, value in stored.items() if roles[n] == "constant"},
            verifiers=[EXIREdgeDialectVerifier(unchecked, class_only=True)],
        )


def by_hand(case: Case, data: DataStore) -> ByHand:
    """The graph of a case. Raises SubjectError, or what torch raises on operators that do not fit."""
    mode = FakeTensorMode(  # as torch.export makes it
        allow_non_fake_inputs=True, shape_env=ShapeEnv() if case.symbols else None
    )
    inputs = tuple(replace(item, role="input") for item in case.graph.inputs)
    module = graph_of(replace(case, graph=replace(case.graph, inputs=inputs)))
    symbols = {symbol.name: _symbol(mode, symbol.name, symbol.hint) for symbol in case.symbols}
    tensors = {
        item.name: _real(item, case, data)
        for item in case.graph.inputs
        if isinstance(item.spec, TensorSpec)
    }
    values = [_described(item, tensors.get(item.name), mode, symbols) for item in case.graph.inputs]
    for symbol in case.symbols:
        if symbol.fixed:
            int(symbols[symbol.name])  # a guard: from here on it stands for its number
    _describe(module, values, mode)
    return ByHand(module, tensors, case)


def _real(item: Input, case: Case, data: DataStore) -> torch.Tensor:
    tensor = make_tensor(item, case, data)
    if item.role == "parameter":
        trained = tensor.is_floating_point() or tensor.is_complex()
        return torch.nn.Parameter(tensor, requires_grad=trained)
    return tensor


def _described(
    item: Input, tensor: torch.Tensor | None, mode: FakeTensorMode, symbols: dict[str, Any]
) -> Any:
    """What ``meta["val"]`` of a placeholder is."""
    if tensor is None or not isinstance(item.spec, TensorSpec):
        symbol = getattr(item.spec, "symbol", None)
        return apply_size(symbol, symbols) if symbol else item.value
    if item.role == "constant":
        return mode.fake_tensor_converter.from_real_tensor(mode, tensor, make_constant=True)
    if all(isinstance(size, int) for size in item.spec.shape):
        return mode.from_tensor(tensor, static_shapes=True)
    with mode:
        return torch.empty([_size(size, symbols) for size in item.spec.shape], dtype=tensor.dtype)


def _size(size: Size, symbols: dict[str, Any]) -> Any:
    return size if isinstance(size, int) else apply_size(size, symbols)


def _symbol(mode: FakeTensorMode, name: str, hint: int) -> torch.SymInt:
    environment = mode.shape_env
    assert environment is not None
    symbol = environment.create_symbol(hint, ConstantSource(name), DimDynamic.DYNAMIC)
    found: torch.SymInt = environment.create_symintnode(symbol, hint=hint)
    return found


def _describe(module: torch.fx.GraphModule, inputs: Sequence[Any], mode: FakeTensorMode) -> None:
    """Give each node of the graph, and of the graphs that it calls, its ``meta["val"]``."""
    given = iter(inputs)
    for node in module.graph.nodes:
        if node.op == "placeholder":
            node.meta["val"] = next(given)
        elif node.op == "call_function":
            args, kwargs = torch.fx.node.map_arg(
                (node.args, dict(node.kwargs)), lambda read: _value(module, read)
            )
            for inner, operands in _called(args):
                _describe(inner, operands, mode)
            with mode, enable_python_dispatcher():  # which sizes that are not fixed need
                node.meta["val"] = node.target(*args, **kwargs)


def _value(module: torch.fx.GraphModule, node: torch.fx.Node) -> Any:
    return getattr(module, str(node.target)) if node.op == "get_attr" else node.meta["val"]


def _called(args: tuple[Any, ...]) -> Iterator[tuple[torch.fx.GraphModule, list[Any]]]:
    """Graphs that a control-flow operator calls, each with the operands that stand behind them."""
    graphs = [value for value in args if isinstance(value, torch.fx.GraphModule)]
    if not graphs:
        return
    operands = pytree.tree_leaves(args[args.index(graphs[-1]) + 1 :])
    for graph in graphs:
        if len(graph.graph.find_nodes(op="placeholder")) != len(operands):
            raise SubjectError("what this control-flow operator gives to its graphs is not known")
        yield graph, operands


def _signature(module: torch.fx.GraphModule, inputs: Sequence[Input]) -> ExportGraphSignature:
    (returned,) = module.graph.output_node().args
    return ExportGraphSignature(
        [
            InputSpec(
                _KINDS[item.role],
                TensorArgument(item.name),
                None if item.role == "input" else item.name,
                item.persistent if item.role == "buffer" else None,
            )
            for item in inputs
        ],
        [
            OutputSpec(OutputKind.USER_OUTPUT, TensorArgument(node.name), None)
            for node in pytree.tree_leaves(returned)
        ],
    )
