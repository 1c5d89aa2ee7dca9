"""Which Python source stands for a case, as an expert would have written it by hand?"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from reducer.core.case import Case, Check, Fill, Input, Structure, TensorSpec, node_references
from reducer.emit.body import Body, Module
from reducer.emit.control_flow import write_control_flow
from reducer.emit.expression import tuple_text
from reducer.emit.layout import wrap
from reducer.emit.literal import number, text
from reducer.emit.names import Names, attribute_stem, input_stems, operator_name
from reducer.emit.sizes import dynamic_shapes, hints_of
from reducer.emit.spelling import Spelling
from reducer.emit.tensors import is_floating, literal_text, tensor_text
from reducer.emit.written_source import written_source

_LITERAL = "aten.lift_fresh_copy.default"


@dataclass(frozen=True)
class Source:
    """Python source of a case.

    ``imports`` are the lines that ``body`` needs; ``body`` defines ``Repro``, ``example_inputs``
    and, if a dimension is dynamic, ``dynamic_shapes``. ``stored`` maps the keys of the
    ``.safetensors`` file that it reads to digests of the case's data; if empty it reads no file.
    ``complete``: ``body`` also defines the function that fails.
    """

    imports: tuple[str, ...]
    body: str
    stored: Mapping[str, str]
    dynamic: bool = False
    complete: bool = False

    @property
    def text(self) -> str:
        """The whole module."""
        return "\n".join(self.imports) + "\n\n\n" + self.body


def write_source(case: Case, spelling: Spelling | None = None, data_file: str = "") -> Source:
    """The source of a case, operators written as ``spelling`` says, else the most ordinary way.

    ``data_file`` is the name of the file beside the script that holds tensors kept as data; without
    it they are zeros.
    """
    if case.source:
        return Source(*written_source(case.source), {}, complete=True)
    return _Writer(case, spelling or {}, data_file).write()


class _Writer:
    def __init__(self, case: Case, spelling: Spelling, data_file: str) -> None:
        self.case = case
        self.data_file = data_file
        self.stored: dict[str, str] = {}
        held = [item for item in case.graph.inputs if item.role != "input"]
        attributes = Names()
        names = {item.name: attributes.take(attribute_stem(item.name, item.role)) for item in held}
        self.attributes = {item.name: (names[item.name], item) for item in held}
        self.module = Module(
            case,
            spelling,
            {name: f"self.{chosen}" for name, chosen in names.items()},
            {item.name: item for item in held if _is_literal(item, case)},
            write_control_flow,
            {"import torch", *(f"import {name}" for name in case.recipe.modules)},
        )

    def write(self) -> Source:
        names = Names()
        forward, inputs = self._forward(names)
        init = self._init()
        lines = [
            *self._definitions(),
            *self._loading(),
            "class Repro(torch.nn.Module):",
            *init,
            *forward,
            "",
            "",
        ]
        if any(fill.kind == "random" for fill in self._fills()):
            lines.append("torch.manual_seed(0)")
        lines += wrap(
            f"example_inputs = {tuple_text([self._example(item) for item in self._given()])}"
        )
        if self.case.checks:
            lines += wrap(f"check_inputs = [{', '.join(map(self._check, self.case.checks))}]")
        dims = dynamic_shapes(self.case, inputs, Names(("torch", "Dim", "Repro")))
        for line in dims:
            lines += wrap(line)
        if dims:
            self.module.imports.add("from torch.export import Dim")
        return Source(sort_imports(self.module.imports), "\n".join(lines), self.stored, bool(dims))

    def _definitions(self) -> list[str]:
        """What registers the user's operators, its imports moved to the others."""
        source = self.case.recipe.definitions
        lines: list[str] = []
        for statement in ast.parse(source).body:
            text = ast.get_source_segment(source, statement) or ""
            if isinstance(statement, ast.Import | ast.ImportFrom):
                self.module.imports.add(text)
                continue
            decorators = getattr(statement, "decorator_list", [])
            block = isinstance(statement, ast.FunctionDef | ast.ClassDef)
            if block and lines[-2:] != ["", ""]:
                lines += ["", ""]
            lines += [f"@{ast.get_source_segment(source, item)}" for item in decorators]
            lines += [*text.splitlines(), *(["", ""] if block else [])]
        if lines and lines[-1]:
            lines += ["", ""]
        return lines[2:] if lines[:2] == ["", ""] else lines

    def _given(self) -> list[Input]:
        return [item for item in self.case.graph.inputs if item.role == "input"]

    def _shown(self) -> Iterator[Input]:
        """Inputs whose tensors are made: what the caller gives and what ``forward`` reads."""
        for item in self.case.graph.inputs:
            if item.role == "input" or item.name in self.module.referenced:
                yield item

    def _fills(self) -> Iterator[Fill]:
        """Where the numbers of all tensors that are made come from."""
        yield from (item.fill for item in self._shown())
        for check in self.case.checks:
            inputs = self.case.checked_by(check).graph.inputs
            yield from (item.fill for item in inputs if item.role == "input")

    def _forward(self, names: Names) -> tuple[list[str], dict[str, str]]:
        body = Body(self.module, names, "        ")
        operators = {operator_name(target).strip("_") for target in self.case.schemas}
        inputs: dict[str, str] = {}
        for item in self._given():
            said = "" if item.made else item.name
            inputs[item.name] = names.take_first(input_stems(said, operators), "x")
            body.bind(item.name, inputs[item.name])
        graph = self.case.graph
        body.add(graph)
        body.result(graph.outputs, lambda texts: nest(self.case.structure, texts))
        header = f"    def forward({', '.join(['self', *inputs.values()])}):"
        return [*wrap(header), *tidy(body.lines)], inputs

    def _init(self) -> list[str]:
        lines = []
        for item in self._shown():
            if item.role != "input":
                lines += wrap(f"        {self._held(item)}")
        if not lines:
            return []
        return ["    def __init__(self):", "        super().__init__()", *lines, ""]

    def _held(self, item: Input) -> str:
        name = self.attributes[item.name][0]
        made = self._tensor(item, name)
        if item.role == "parameter":
            fixed = isinstance(item.spec, TensorSpec) and not is_floating(item.spec.dtype)
            option = ", requires_grad=False" if fixed else ""
            return f"self.{name} = torch.nn.Parameter({made}{option})"
        if item.role == "buffer":
            option = "" if item.persistent else ", persistent=False"
            return f'self.register_buffer("{name}", {made}{option})'
        return f"self.{name} = {made}"

    def _check(self, check: Check) -> str:
        """A further set of inputs, as a tuple."""
        case, hints = self.case.checked_by(check), hints_of(self.case.checked_by(check))
        given = [item for item in case.graph.inputs if item.role == "input"]
        return tuple_text([self._example(item, hints) for item in given])

    def _example(self, item: Input, hints: Mapping[str, int] | None = None) -> str:
        if isinstance(item.spec, TensorSpec):
            return self._tensor(item, item.name, hints)
        return "None" if item.value is None else number(item.value).text

    def _tensor(self, item: Input, key: str, hints: Mapping[str, int] | None = None) -> str:
        assert isinstance(item.spec, TensorSpec)
        stored = ""
        if item.fill.kind == "data" and self.data_file:
            while key in self.stored:
                key += "_"
            self.stored[key] = item.fill.digest
            stored = f'tensors["{key}"]'
        return tensor_text(item.spec, item.fill, hints or hints_of(self.case), stored)

    def _loading(self) -> list[str]:
        if not self.data_file or not any(fill.kind == "data" for fill in self._fills()):
            return []
        self.module.imports |= {
            "from pathlib import Path",
            "from safetensors.torch import load_file",
        }
        return [f"tensors = load_file(Path(__file__).with_name({text(self.data_file)}))", "", ""]


def nest(structure: Structure, texts: list[str]) -> str:
    """The outputs, nested as the case says.

    >>> nest(("dict:a,b", "*", ("list", "*")), ["x", "y"])
    '{"a": x, "b": [y]}'
    >>> nest(None, ["x", "y"])
    'x, y'
    """
    if structure is None or _leaves(structure) != len(texts):
        return ", ".join(texts) if texts else "()"
    return _nested(structure, iter(texts))


def _nested(structure: Structure, texts: Iterator[str]) -> str:
    if not isinstance(structure, tuple):
        return next(texts)
    kind = str(structure[0])
    children = [_nested(child, texts) for child in structure[1:]]
    if kind == "list":
        return f"[{', '.join(children)}]"
    if kind.startswith("dict:"):
        keys = kind.removeprefix("dict:").split(",")
        return (
            "{" + ", ".join(f"{text(k)}: {v}" for k, v in zip(keys, children, strict=False)) + "}"
        )
    if kind.startswith("named:torch.return_types."):
        return f"{kind.removeprefix('named:')}({tuple_text(children)})"
    if kind.startswith("named:torch."):
        return f"{kind.removeprefix('named:')}({', '.join(children)})"
    return tuple_text(children)


def _leaves(structure: Structure) -> int:
    if isinstance(structure, tuple):
        return sum(_leaves(child) for child in structure[1:])
    return 1


def tidy(lines: list[str]) -> list[str]:
    """Lines without blank ones at the start, at the end, or twice."""
    kept: list[str] = []
    for line in lines:
        if line or (kept and kept[-1] and not kept[-1].endswith(":")):
            kept.append(line)
    while kept and not kept[-1]:
        kept.pop()
    return kept


def sort_imports(lines: set[str] | list[str]) -> tuple[str, ...]:
    """Import lines in the usual order: standard library, a blank line, the rest."""
    ordered = sorted(set(lines), key=lambda line: (line.startswith("from "), line.lower()))
    standard = [line for line in ordered if line.split()[1] in _STANDARD]
    others = [line for line in ordered if line.split()[1] not in _STANDARD]
    return (*standard, *([""] if standard and others else []), *others)


_STANDARD = frozenset(
    {
        "faulthandler", "math", "operator", "os", "pathlib", "re", "signal", "subprocess", "sys",
        "time", "traceback", "unittest",
    }
)  # fmt: skip


def _is_literal(item: Input, case: Case) -> bool:
    """Whether a constant is a ``torch.tensor(...)`` in ``forward``."""
    if item.role != "constant" or not isinstance(item.spec, TensorSpec):
        return False
    readers = {node.target for node in case.graph.nodes if item.name in node_references(node)}
    return readers == {_LITERAL} and bool(literal_text(item.spec, item.fill))
