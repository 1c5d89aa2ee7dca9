"""Which case does an exported program stand for?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch.export.graph_signature import ConstantArgument, InputKind, OutputKind

from reducer.core.case import (
    Argument,
    Atom,
    Case,
    Graph,
    GraphRef,
    Input,
    Node,
    Ref,
    ScalarSpec,
    Size,
    Spec,
    Symbol,
    TensorSpec,
)
from reducer.core.recipe import Recipe
from reducer.lowering.data import DataStore
from reducer.lowering.errors import SubjectError
from reducer.lowering.fx.checks import check_of, tidy_checks
from reducer.lowering.fx.structure import structure_of
from reducer.lowering.fx.targets import schema_text, target_text

_ROLES = {
    InputKind.USER_INPUT: "input",
    InputKind.PARAMETER: "parameter",
    InputKind.BUFFER: "buffer",
    InputKind.CONSTANT_TENSOR: "constant",
}
_MUTATIONS = (
    OutputKind.BUFFER_MUTATION,
    OutputKind.USER_INPUT_MUTATION,
    getattr(OutputKind, "PARAMETER_MUTATION", OutputKind.BUFFER_MUTATION),
)


def case_from_program(
    program: torch.export.ExportedProgram,
    recipe: Recipe,
    data: DataStore,
    more: Sequence[tuple[tuple[Any, ...], dict[str, Any]]] = (),
) -> Case:
    """The program as a case; node names are those of ``program.graph``.

    Lifted parameters, buffers and constants become inputs of their role; mutations that the program
    returns become ``copy_`` calls; ``more`` sets of inputs become checks. Raises SubjectError for what
    a case cannot say (script objects), and for inputs that do not fit.
    """
    case = Reader(program, recipe, data).read()
    case = replace(case, checks=tuple(check_of(case, program, inputs, data) for inputs in more))
    return replace(case, checks=tidy_checks(case))


class Reader:
    """Turns the graph of a program, and what it refers to, into nouns."""

    def __init__(self, program: Any, recipe: Recipe, data: DataStore) -> None:
        self.program = program
        self.recipe = recipe
        self.data = data
        self.schemas: dict[str, str] = {}
        self.subgraphs: list[tuple[str, Graph]] = []
        self.used: set[str] = set()

    def read(self) -> Case:
        """The whole program."""
        program = self.program
        self.used = {node.name for node in program.graph.nodes}
        signature = program.graph_signature
        inputs = self._inputs(signature)
        nodes = self.nodes(program.graph_module, {})
        returned = list(_output_node(program.graph).args[0])
        outputs: list[Argument] = []
        for spec, value in zip(signature.output_specs, returned, strict=True):
            if spec.kind in _MUTATIONS:
                nodes.append(self._copy_back(signature, spec, value))
            elif spec.kind is OutputKind.USER_OUTPUT:
                outputs.append(argument_of(value, {}, {}))
        return Case(
            graph=Graph(tuple(inputs), tuple(nodes), tuple(outputs)),
            recipe=self.recipe,
            subgraphs=tuple(self.subgraphs),
            symbols=tuple(symbols_of(program.graph.nodes, program.range_constraints)),
            schemas=dict(sorted(self.schemas.items())),
            structure=structure_of(program.call_spec.out_spec, len(outputs)),
        )

    def _inputs(self, signature: Any) -> list[Input]:
        examples = iter(_example_leaves(self.program))
        found = []
        placeholders = {
            node.name: node for node in self.program.graph.nodes if node.op == "placeholder"
        }
        for spec in signature.input_specs:
            name = getattr(spec.arg, "name", "")
            if spec.kind not in _ROLES:
                raise SubjectError(
                    f"input {name!r} of the exported program is a {spec.kind.name.lower()}",
                    hint="script objects and effect tokens cannot be reduced",
                )
            example = next(examples, None) if spec.kind is InputKind.USER_INPUT else None
            if isinstance(spec.arg, ConstantArgument):
                continue  # specialised by export: the graph does not read it
            found.append(self._input(spec, placeholders[name], example))
        return found

    def _input(self, spec: Any, node: torch.fx.Node, example: Any) -> Input:
        role = _ROLES[spec.kind]
        value = node.meta.get("val")
        if role == "input":
            if not isinstance(value, torch.Tensor):
                number = example if isinstance(example, int | float | bool) else 1
                return Input(node.name, role, spec_of(value), value=number)
            tensor = example if isinstance(example, torch.Tensor) else None
        elif role == "constant":
            tensor = self.program.constants[spec.target]
        else:
            tensor = self.program.state_dict.get(
                spec.target, self.program.constants.get(spec.target)
            )
        described = spec_of(value if tensor is None or role == "input" else tensor)
        fill = (
            self.data.fill(tensor) if isinstance(tensor, torch.Tensor) else Input("", "", None).fill
        )
        return Input(node.name, role, described, fill, persistent=spec.persistent is not False)

    def nodes(self, module: torch.fx.GraphModule, names: dict[str, str]) -> list[Node]:
        """The calls of a graph; values are renamed as ``names`` says."""
        graphs: dict[str, str] = {}
        nodes = []
        for node in module.graph.nodes:
            if node.op == "get_attr":
                graphs[node.name] = self._attribute(module, node)
            elif node.op == "call_function":
                nodes.append(self._node(node, names, graphs))
        return nodes

    def _node(self, node: torch.fx.Node, names: dict[str, str], graphs: dict[str, str]) -> Node:
        text = target_text(node.target)
        schema = schema_text(node.target)
        if schema is not None:
            self.schemas[text] = schema
        return Node(
            names.get(node.name, node.name),
            text,
            tuple(argument_of(argument, names, graphs) for argument in node.args),
            tuple(
                (key, argument_of(argument, names, graphs)) for key, argument in node.kwargs.items()
            ),
            spec_of(node.meta.get("val")),
            _module_path(node),
        )

    def _attribute(self, module: torch.fx.GraphModule, node: torch.fx.Node) -> str:
        owner: Any = module
        for part in str(node.target).split("."):
            owner = getattr(owner, part)
        if not isinstance(owner, torch.fx.GraphModule):
            raise SubjectError(
                f"the exported graph reads attribute {node.target!r}, a {type(owner).__name__}",
                hint="pass it as an input, or register it as a buffer",
            )
        name = self._fresh(str(node.target).replace(".", "_"))
        names = {inner.name: self._fresh(inner.name) for inner in owner.graph.nodes}
        inputs = tuple(
            Input(names[inner.name], "input", spec_of(inner.meta.get("val")))
            for inner in owner.graph.nodes
            if inner.op == "placeholder"
        )
        nodes = self.nodes(owner, names)
        returned = _output_node(owner.graph).args[0]
        if not isinstance(returned, tuple | list):
            returned = (returned,)
        outputs = tuple(argument_of(value, names, {}) for value in returned)
        self.subgraphs.append((name, Graph(inputs, tuple(nodes), outputs)))
        return name

    def _copy_back(self, signature: Any, spec: Any, value: Any) -> Node:
        by_target = {item.target: item.arg.name for item in signature.input_specs if item.target}
        name = by_target.get(spec.target, spec.target)
        copy = torch.ops.aten.copy_.default
        self.schemas[str(copy)] = str(copy._schema)
        return Node(
            self._fresh("copy_"),
            str(copy),
            (Ref(name), Ref(value.name)),
            spec=spec_of(value.meta.get("val")),
        )

    def _fresh(self, name: str) -> str:
        candidate, number = name, 0
        while candidate in self.used:
            number += 1
            candidate = f"{name}_{number}"
        self.used.add(candidate)
        return candidate


def spec_of(value: Any) -> Spec:
    """Shape, dtype and strides of a (fake) tensor, symbol of a scalar, tuples of these."""
    if isinstance(value, torch.Tensor):
        shape = tuple(_size(size) for size in value.shape)
        return TensorSpec(shape, str(value.dtype).removeprefix("torch."), _stride(value, shape))
    if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
        kind = {torch.SymInt: "int", torch.SymFloat: "float", torch.SymBool: "bool"}[type(value)]
        return ScalarSpec(kind, str(value.node.expr))
    if isinstance(value, bool | int | float):
        return ScalarSpec(type(value).__name__)
    if isinstance(value, tuple | list):
        return tuple(spec_of(item) for item in value)
    return None


def _size(size: Any) -> Size:
    if isinstance(size, int):
        return size
    expression = size.node.expr
    return int(expression) if expression.is_number else str(expression)


def _stride(tensor: torch.Tensor, shape: tuple[Size, ...]) -> tuple[Size, ...] | None:
    if tensor.layout is not torch.strided:
        return None
    stride = tuple(_size(item) for item in tensor.stride())
    if not all(isinstance(item, int) for item in (*shape, *stride)):
        hints = [
            item.node.hint if isinstance(item, torch.SymInt) else item for item in tensor.shape
        ]
        steps = [
            item.node.hint if isinstance(item, torch.SymInt) else item for item in tensor.stride()
        ]
        if None in hints or None in steps or _is_contiguous(hints, steps):
            return None
        return stride
    return None if _is_contiguous(list(shape), list(stride)) else stride


def _is_contiguous(shape: list[Any], stride: list[Any]) -> bool:
    expected = 1
    if 0 in shape:
        return True
    for size, step in zip(reversed(shape), reversed(stride), strict=True):
        if size != 1 and step != expected:
            return False
        expected *= size
    return True


def argument_of(value: Any, names: dict[str, str], graphs: dict[str, str]) -> Argument:
    """An argument of a node as plain data. Raises SubjectError for what has none."""
    if isinstance(value, torch.fx.Node):
        if value.name in graphs:
            return GraphRef(graphs[value.name])
        return Ref(names.get(value.name, value.name))
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple | list):
        return tuple(argument_of(item, names, graphs) for item in value)
    if isinstance(value, torch.dtype | torch.layout | torch.memory_format):
        return Atom(type(value).__name__, str(value).removeprefix("torch."))
    if isinstance(value, torch.device):
        return Atom("device", str(value))
    if isinstance(value, complex):
        return Atom("complex", repr(value))
    if isinstance(value, torch.SymInt | torch.SymFloat):
        return value.node.hint
    raise SubjectError(
        f"argument of type {type(value).__name__} in the exported graph has no plain form",
        hint="please report this with the model's export",
    )


def _output_node(graph: torch.fx.Graph) -> torch.fx.Node:
    return next(node for node in reversed(graph.nodes) if node.op == "output")


def _module_path(node: torch.fx.Node) -> str:
    stack = node.meta.get("nn_module_stack") or {}
    paths = [entry[0] for entry in stack.values() if isinstance(entry, tuple)]
    path = paths[-1] if paths else ""
    return str(path).removeprefix("L['self']").lstrip(".")


def _example_leaves(program: Any) -> list[Any]:
    if program.example_inputs is None:
        return []
    args, kwargs = program.example_inputs
    leaves, _ = torch.utils._pytree.tree_flatten((args, kwargs))
    return list(leaves)


def symbols_of(nodes: Iterable[torch.fx.Node], ranges: Mapping[Any, Any]) -> list[Symbol]:
    """Symbols that the sizes of the placeholders among ``nodes`` are made of, with range and hint."""
    wanted: dict[str, Any] = {}
    for node in nodes:
        value = node.meta.get("val")
        if node.op != "placeholder":
            continue
        sizes = value.shape if isinstance(value, torch.Tensor) else (value,)
        for size in sizes:
            if isinstance(size, torch.SymInt):
                for symbol in size.node.expr.free_symbols:
                    wanted.setdefault(str(symbol), (symbol, size.node.shape_env))
    found = []
    for name, (symbol, shape_env) in sorted(wanted.items()):
        limits = ranges.get(symbol)
        lower = int(limits.lower) if limits is not None and limits.lower.is_number else 0
        upper = None
        if limits is not None and limits.upper.is_Integer and int(limits.upper) < 2**31:
            upper = int(limits.upper)
        found.append(Symbol(name, _hint(shape_env, symbol), lower, upper))
    return found


def _hint(shape_env: Any, symbol: Any) -> int:
    values = getattr(shape_env, "backed_var_to_val", None) or shape_env.var_to_val
    return int(values.get(symbol, 2))
