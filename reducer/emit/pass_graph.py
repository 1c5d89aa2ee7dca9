"""How is a graph in the middle of lowering written down by hand, each value described?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from reducer.core.case import Case, Input, Node, TensorSpec
from reducer.core.errors import NotHandled
from reducer.emit import literal
from reducer.emit.expression import Expression
from reducer.emit.layout import wrap
from reducer.emit.literal import text
from reducer.emit.names import Names, attribute_stem, input_stems, operator_name, value_stem
from reducer.emit.sizes import hints_of
from reducer.emit.tensors import is_floating, tensor_text

_FAKE = "from torch._subclasses.fake_tensor import FakeTensorMode"

#: Up to this many calls are described one by one.
_FEW = 2

_DESCRIBE = """\
    for node in graph.nodes:
        if node.op == "call_function":
            args, kwargs = torch.fx.node.map_arg(
                (node.args, dict(node.kwargs)), lambda read: read.meta["val"]
            )
            with {modes}:
                node.meta["val"] = node.target(*args, **kwargs)"""

_SYMBOL_IMPORTS = (
    "from torch._dispatch.python import enable_python_dispatcher",
    "from torch._dynamo.source import ConstantSource",
    "from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv",
)
_SYMBOL = (
    """\
def symbol(mode, name, hint):
    """
    + '"""A size that is not fixed."""'
    + """
    made = mode.shape_env.create_symbol(hint, ConstantSource(name), DimDynamic.DYNAMIC)
    return mode.shape_env.create_symintnode(made, hint=hint)
"""
)

_PROGRAM_IMPORTS = (
    "from executorch.exir import EdgeCompileConfig",
    "from executorch.exir.verification.verifier import EXIREdgeDialectVerifier",
    "from torch.export import ExportedProgram",
    "from torch.export.exported_program import ModuleCallEntry, ModuleCallSignature",
    "from torch.export.graph_signature import ExportGraphSignature, InputKind, InputSpec",
    "from torch.export.graph_signature import OutputKind, OutputSpec, TensorArgument",
    "from torch.utils import _pytree as pytree",
)
_PROGRAM = """\
    empty = pytree.tree_structure(((), {}))
    return ExportedProgram(
        root=graph_module,
        graph=graph_module.graph,
        graph_signature=ExportGraphSignature(
            inputs,
            [
                OutputSpec(OutputKind.USER_OUTPUT, TensorArgument(node.name), None)
                for node in graph_module.graph.output_node().args[0]
            ],
        ),
        state_dict=%s,
        range_constraints={},
        module_call_graph=[ModuleCallEntry("", ModuleCallSignature([], [], empty, empty))],
        constants=%s,
        verifiers=[
            EXIREdgeDialectVerifier(EdgeCompileConfig(_check_ir_validity=False), class_only=True)
        ],
    )"""

_KINDS = {
    "input": "USER_INPUT",
    "parameter": "PARAMETER",
    "buffer": "BUFFER",
    "constant": "CONSTANT_TENSOR",
}
#: Where a program keeps the tensors of a role.
_TABLES = {"parameter": "state_dict", "buffer": "state_dict", "constant": "constants"}


@dataclass(frozen=True)
class PassGraphSource:
    """Python source of a graph made by hand.

    ``body`` defines ``build()``, which returns it, and with a program also ``program_around(graph_module)``.
    ``stored`` maps the keys of the ``.safetensors`` file that it reads to digests of the case's data.
    """

    imports: frozenset[str]
    body: str
    stored: Mapping[str, str]


def write_pass_graph(case: Case, *, program: bool, data_file: str = "") -> PassGraphSource:
    """The source of a case whose recipe runs one pass. Raises NotHandled for what is not written.

    ``program``: with the ``ExportedProgram`` around the graph. ``data_file`` as for a repro.
    """
    return _Writer(case, program, data_file).write()


class _Writer:
    def __init__(self, case: Case, program: bool, data_file: str) -> None:
        if case.subgraphs:
            raise NotHandled("a graph with control flow is not written by hand")
        self.case = case
        self.program = program
        self.data_file = data_file
        self.stored: dict[str, str] = {}
        self.imports = {"import torch", _FAKE, *(f"import {n}" for n in case.recipe.modules)}
        self.names = Names(("graph", "mode", "node", "ops", "symbol", "stored", "read", "args"))
        self.variables: dict[str, str] = {}
        self.modes = "mode, enable_python_dispatcher()" if case.symbols else "mode"
        self.few = len(case.graph.nodes) <= _FEW
        self.symbols = {item.name: f"s{n}" for n, item in enumerate(case.symbols)}

    def write(self) -> PassGraphSource:
        inputs = [line for item in self.case.graph.inputs for line in self._input(item)]
        calls = [line for node in self.case.graph.nodes for line in self._call(node)]
        inputs += [
            f"    int({self.symbols[item.name]})  # on the way to the pass it has become this number"
            for item in self.case.symbols
            if item.fixed
        ]
        outputs = literal.argument(self.case.graph.outputs, self._refer).text
        lines = ["def build():", *self._head(), *inputs, *calls]
        lines += wrap(f"    graph.output({outputs})")
        if not self.few:
            lines.append(_DESCRIBE.format(modes=self.modes))
        lines.append("    return torch.fx.GraphModule(torch.nn.Module(), graph)")
        parts = ["\n".join(lines)]
        if self.case.symbols:
            self.imports |= set(_SYMBOL_IMPORTS)
            parts.insert(0, _SYMBOL.rstrip())
        if self.program:
            self.imports |= set(_PROGRAM_IMPORTS)
            parts = [*self._tensors(), *parts, self._program()]
        if self.stored:
            self.imports |= {
                "from pathlib import Path",
                "from safetensors.torch import load_file",
            }
            loaded = f"stored = load_file(Path(__file__).with_name({text(self.data_file)}))"
            parts.insert(0, loaded)
        return PassGraphSource(frozenset(self.imports), "\n\n\n".join(parts), self.stored)

    def _head(self) -> list[str]:
        environment = ", shape_env=ShapeEnv()" if self.case.symbols else ""
        lines = [f"    mode = FakeTensorMode(allow_non_fake_inputs=True{environment})"]
        for item in self.case.symbols:
            name = self.symbols[item.name]
            lines.append(f'    {name} = symbol(mode, "{name}", {item.hint})')
        return [*lines, "    graph = torch.fx.Graph()"]

    def _input(self, item: Input) -> list[str]:
        if item.role == "input":
            operators = {operator_name(node.target) for node in self.case.graph.nodes}
            said = "" if item.made else item.name
            name = self.names.take_first(input_stems(said, operators), "x")
        else:
            name = self.names.take(attribute_stem(item.name, item.role))
        self.variables[item.name] = name
        carries = "  # carries the real tensor" if item.role == "constant" else ""
        lines = [f"    {name} = graph.placeholder({text(name)}){carries}"]
        described = self._described(item, name)
        if described.startswith("torch.empty("):
            return [*lines, "    with mode:", *wrap(f'        {name}.meta["val"] = {described}')]
        return [*lines, *wrap(f'    {name}.meta["val"] = {described}')]

    def _described(self, item: Input, name: str) -> str:
        if not isinstance(item.spec, TensorSpec):
            symbol = getattr(item.spec, "symbol", None)
            if symbol:
                return self._size(symbol)
            return "None" if item.value is None else literal.number(item.value).text
        if not all(isinstance(size, int) for size in item.spec.shape):
            sizes = ", ".join(self._size(size) for size in item.spec.shape)
            usual = item.spec.dtype == "float32"
            option = "" if usual else f", dtype=torch.{item.spec.dtype}"
            return f"torch.empty({sizes}{option})"
        tensor = self._held(item) if self.program else self._tensor(item, name)
        if item.role == "constant":
            made = f"mode, {tensor}, make_constant=True"
            return f"mode.fake_tensor_converter.from_real_tensor({made})"
        option = ", static_shapes=True" if self.case.symbols else ""
        return f"mode.from_tensor({tensor}{option})"

    def _held(self, item: Input) -> str:
        name = self.variables[item.name]
        if item.role == "input":
            return self._tensor(item, name)
        return f"{_TABLES[item.role]}[{text(name)}]"

    def _tensor(self, item: Input, key: str) -> str:
        assert isinstance(item.spec, TensorSpec)
        stored = ""
        if item.fill.kind == "data" and self.data_file:
            self.stored[key] = item.fill.digest
            stored = f"stored[{text(key)}]"
        made = tensor_text(item.spec, item.fill, hints_of(self.case), stored)
        if item.role == "parameter":
            fixed = "" if is_floating(item.spec.dtype) else ", requires_grad=False"
            return f"torch.nn.Parameter({made}{fixed})"
        return made

    def _size(self, size: int | str) -> str:
        shown = str(size)
        if "(" in re.sub(r"\b[A-Za-z_]\w*\b|[\d\s+*-]", "", shown):
            raise NotHandled(f"a placeholder's size {shown} is not written by hand")
        return re.sub(r"\b[A-Za-z_]\w*\b", lambda found: self.symbols[found[0]], shown)

    def _call(self, node: Node) -> list[str]:
        target = self._target(node.target)
        as_list = ".ops." in f".{target}"
        args = [literal.argument(value, self._refer, as_list=as_list).text for value in node.args]
        kwargs = [
            f"{text(key)}: {literal.argument(value, self._refer, as_list=as_list).text}"
            for key, value in node.kwargs
        ]
        shown = f"({args[0]},)" if len(args) == 1 else f"({', '.join(args)})"
        options = f", {{{', '.join(kwargs)}}}" if kwargs else ""
        name = self.names.take(value_stem(node.target.removeprefix("edge.")))
        self.variables[node.name] = name
        lines = wrap(f"    {name} = graph.call_function({target}, {shown}{options})")
        if not self.few:
            return lines
        values = [literal.argument(value, self._value, as_list=as_list).text for value in node.args]
        values += [
            f"{key}={literal.argument(value, self._value, as_list=as_list).text}"
            for key, value in node.kwargs
        ]
        described = f'        {name}.meta["val"] = {target}({", ".join(values)})'
        return [*lines, f"    with {self.modes}:", *wrap(described)]

    def _target(self, target: str) -> str:
        if target.startswith("edge."):
            self.imports.add("from executorch.exir.dialects._ops import ops")
            return f"ops.{target}"
        if ":" in target:
            module, _, attribute = target.partition(":")
            self.imports.add(f"import {module}")
            return f"{module}.{attribute}"
        return f"torch.ops.{target}"

    def _refer(self, name: str) -> Expression:
        return Expression(self.variables[name])

    def _value(self, name: str) -> Expression:
        return Expression(f'{self.variables[name]}.meta["val"]')

    def _tensors(self) -> list[str]:
        """The tensors that the program holds, by kind."""
        lines: list[str] = []
        for table in self._tables():
            pairs = [
                f"{text(self.variables[item.name])}: {self._tensor(item, self.variables[item.name])}"
                for item in self.case.graph.inputs
                if _TABLES.get(item.role) == table
            ]
            lines += wrap(f"{table} = {{{', '.join(pairs)}}}")
        return ["\n".join(lines)] if lines else []

    def _tables(self) -> list[str]:
        """Names of the tables that are not empty."""
        used = {_TABLES.get(item.role) for item in self.case.graph.inputs}
        return [table for table in ("state_dict", "constants") if table in used]

    def _program(self) -> str:
        lines = ["def program_around(graph_module):", "    inputs = ["]
        for item in self.case.graph.inputs:
            name = text(self.variables[item.name])
            target = "None" if item.role == "input" else name
            kind = f"InputKind.{_KINDS[item.role]}"
            option = f", {item.persistent}" if item.role == "buffer" else ""
            spec = f"InputSpec({kind}, TensorArgument({name}), {target}{option})"
            lines += wrap(f"        {spec},")
        tables = [name if name in self._tables() else "{}" for name in ("state_dict", "constants")]
        return "\n".join([*lines, "    ]", _PROGRAM % tuple(tables)])
