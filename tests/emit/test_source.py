"""Does a case become the source that a person would write?"""

from __future__ import annotations

import ast
import re
from dataclasses import replace

import pytest
from emit_cases import F32, call, case, given
from hypothesis import given as generated
from hypothesis import strategies as st

from reducer.core.case import Atom, Fill, Graph, GraphRef, Input, Node, Ref, Symbol, TensorSpec
from reducer.emit.source import write_source


def forward(made) -> list[str]:
    """The statements of ``forward``."""
    lines = write_source(made).text.splitlines()
    start = next(i for i, line in enumerate(lines) if "def forward" in line) + 1
    end = lines.index("", start) if "" in lines[start:] else len(lines)
    return [line.strip() for line in lines[start:end]]


def test_single_uses_become_one_expression() -> None:
    made = case(
        (
            call("a", "aten.relu.default", "%x"),
            call("b", "aten.sin.default", "%x"),
            call("c", "aten.add.Tensor", "%a", "%b"),
            call("d", "aten.mul.Tensor", "%c", 2),
        ),
        "%d",
    )
    assert forward(made) == ["return (F.relu(x) + torch.sin(x)) * 2"]


def test_evaluation_order_is_kept() -> None:
    made = case(
        (
            call("a", "aten.relu.default", "%x"),
            call("b", "aten.sin.default", "%x"),
            call("c", "aten.add.Tensor", "%b", "%a"),
        ),
        "%c",
    )
    assert forward(made) == ["relu = F.relu(x)", "return torch.sin(x) + relu"]


def test_no_value_crosses_a_write() -> None:
    made = case(
        (
            call("a", "aten.sin.default", "%x"),
            call("b", "aten.add_.Tensor", "%x", 1),
            call("c", "aten.mul.Tensor", "%a", "%b"),
        ),
        "%c",
    )
    assert forward(made) == ["sin = torch.sin(x)", "x.add_(1)", "return sin * x"]


def test_write_through_a_view() -> None:
    made = case(
        (
            call("y", "aten.mul.Tensor", "%x", 2),
            call("row", "aten.select.int", "%y", 0, 1),
            call("w", "aten.add_.Tensor", "%row", 1),
        ),
        "%y",
    )
    assert forward(made) == ["mul = x * 2", "mul[1].add_(1)", "return mul"]


def test_several_results() -> None:
    both = call("m", "aten.max.dim", "%x", 1)
    first = call("v", "operator:getitem", "%m", 0)
    second = call("i", "operator:getitem", "%m", 1)
    assert forward(case((both, first), "%v")) == ["return x.max(1)[0]"]
    assert forward(case((both, first, second), "%v", "%i")) == [
        "values, indices = x.max(1)",
        "return values, indices",
    ]


def test_unused_results_are_not_named() -> None:
    parts = replace(call("p", "aten.chunk.default", "%x", 3, -1), spec=(F32, F32, F32))
    items = tuple(call(f"i{n}", "operator:getitem", "%p", n) for n in (0, 2))
    total = call("t", "aten.add.Tensor", "%i0", "%i2")
    assert forward(case((parts, *items, total), "%t")) == [
        "chunk, _, chunk_2 = x.chunk(3, dim=-1)",
        "return chunk + chunk_2",
    ]


def test_noise_of_export_is_left_out() -> None:
    zeros = call(
        "z",
        "aten.zeros.default",
        (2, 3),
        dtype=Atom("dtype", "float32"),
        device=Atom("device", "cpu"),
        pin_memory=False,
    )
    assert forward(case((zeros,), "%z")) == ["return torch.zeros(2, 3)"]


def test_reordered_functional_arguments() -> None:
    names = ("w", "b", "m", "v")
    held = tuple(Input(name, "buffer", TensorSpec((3,), "float32")) for name in names)
    node = call(
        "n", "aten.batch_norm.default", "%x", *(f"%{n}" for n in names), False, 0.1, 1e-5, False
    )
    [line] = forward(case((node,), "%n", inputs=(given(), *held)))
    order = re.findall(r"self\.(\w+)", line)
    assert line.startswith("return F.batch_norm(x, ")
    attributes = write_source(case((node,), "%n", inputs=(given(), *held))).text
    assert len(set(order)) == 4
    assert "cudnn" not in attributes


def test_parameters() -> None:
    weight = Input("p_head_weight", "parameter", TensorSpec((4, 3), "float32"), Fill("ones"))
    table = Input("p_codes", "parameter", TensorSpec((2,), "int8"), Fill("zeros"))
    nodes = (
        call("l", "aten.linear.default", "%x", "%p_head_weight"),
        call("a", "aten.add.Tensor", "%l", "%p_codes"),
    )
    text = write_source(case(nodes, "%a", inputs=(weight, table, given()))).text
    assert "self.weight = torch.nn.Parameter(torch.ones(4, 3))" in text
    assert "torch.zeros(2, dtype=torch.int8), requires_grad=False)" in text
    assert "return F.linear(x, self.weight) + self.codes" in text


def test_constants_made_in_forward() -> None:
    item = Input(
        "c_lifted_tensor_0", "constant", TensorSpec((2,), "int64"), Fill("literal", values=(1, 2))
    )
    nodes = (
        call("l", "aten.lift_fresh_copy.default", "%c_lifted_tensor_0"),
        call("d", "aten.detach_.default", "%l"),
        call("a", "aten.add.Tensor", "%x", "%d"),
    )
    made = case(nodes, "%a", inputs=(item, given()))
    assert forward(made) == ["return x + torch.tensor([1, 2])"]
    assert "__init__" not in write_source(made).text


def test_checks_are_said_once() -> None:
    nodes = (
        call("n", "aten.item.default", "%x"),
        call("ge", "operator:ge", "%n", 0),
        call("c1", "aten._assert_scalar.default", "%ge", "message"),
        call("le", "operator:le", "%n", 1),
        call("c2", "aten._assert_scalar.default", "%le", "message"),
        call("lt", "operator:lt", "%n", 2),
        call("c3", "aten._assert_scalar.default", "%lt", "message"),
        call("s", "aten.select.int", "%x", 0, "%n"),
    )
    assert forward(case(nodes, "%s")) == [
        "item = x.item()",
        "torch._check(item >= 0)",
        "torch._check(item < 2)",
        "return x[item]",
    ]


def test_dynamic_shapes() -> None:
    made = case(
        (
            call("n", "aten.sym_size.int", "%x", 0),
            call("m", "operator:mul", "%n", 3),
            call("r", "aten.reshape.default", "%x", ("%m",)),
        ),
        "%r",
        inputs=(
            given("x", TensorSpec(("s7", 3), "float32")),
            given("y", TensorSpec(("2*s7",), "float32")),
        ),
    )
    made = replace(made, symbols=(Symbol("s7", 4, 2, 8),))
    source = write_source(made)
    assert source.dynamic
    assert 's0 = Dim("s0", min=2, max=8)' in source.text
    assert 'dynamic_shapes = {"x": {0: s0}, "y": {0: 2 * s0}}' in source.text
    assert "x.reshape(x.shape[0] * 3)" in source.text
    assert "example_inputs = (torch.zeros(4, 3), torch.zeros(8))" in source.text


def test_control_flow() -> None:
    inner = Graph((given("a"),), (call("t", "aten.sin.default", "%a"),), (Ref("t"),))
    other = Graph((given("b"),), (call("f", "aten.relu.default", "%b"),), (Ref("f"),))
    node = Node("c", "higher_order.cond", (Ref("p"), GraphRef("yes"), GraphRef("no"), (Ref("x"),)))
    made = case(
        (node, call("g", "operator:getitem", "%c", 0)),
        "%g",
        inputs=(given(), given("p", TensorSpec((), "bool"))),
        subgraphs={"yes": inner, "no": other},
    )
    text = write_source(made).text
    assert "def true_fn(x):\n            return torch.sin(x)\n" in text
    assert "return torch.cond(p, true_fn, false_fn, (x,))" in text


def test_numbers_of_stored_tensors_come_from_a_file() -> None:
    weight = Input("p_w", "parameter", F32, Fill("data", digest="ab"))
    made = case((call("a", "aten.add.Tensor", "%x", "%p_w"),), "%a", inputs=(weight, given()))
    source = write_source(made, data_file="repro.safetensors")
    assert source.stored == {"w": "ab"}
    assert 'load_file(Path(__file__).with_name("repro.safetensors"))' in source.text
    assert "load_file" not in write_source(made).text


_UNARY = ("aten.relu.default", "aten.sin.default")
_BINARY = ("aten.add.Tensor", "aten.mul.Tensor", "aten.add_.Tensor")


@st.composite
def programs(draw):
    """Any graph of unary, binary and in-place operators, with any outputs."""
    names, nodes = ["x"], []
    for index in range(draw(st.integers(1, 12))):
        target = draw(st.sampled_from(_UNARY + _BINARY))
        operands = draw(st.lists(st.sampled_from(names), min_size=2, max_size=2))
        count = 1 if target in _UNARY else 2
        nodes.append(Node(f"n{index}", target, tuple(Ref(name) for name in operands[:count])))
        names.append(f"n{index}")
    outputs = draw(st.lists(st.sampled_from(names), min_size=1, max_size=3))
    return case(tuple(nodes), *(f"%{name}" for name in outputs))


class _Recorder:
    """Stands for torch: says in which order operators are evaluated, on which objects."""

    def __init__(self, log: list[str], shown: str = "x") -> None:
        self.log, self.shown = log, shown

    def _do(self, name: str, *others: _Recorder) -> _Recorder:
        self.log.append(f"{name}({', '.join(o.shown for o in (self, *others))})")
        return _Recorder(self.log, f"v{len(self.log)}")

    def __add__(self, other: _Recorder) -> _Recorder:
        return self._do("add", other)

    def __mul__(self, other: _Recorder) -> _Recorder:
        return self._do("mul", other)

    def add_(self, other: _Recorder) -> _Recorder:
        self._do("add_", other)
        return self

    def relu(self) -> _Recorder:
        return self._do("relu")

    def sin(self) -> _Recorder:
        return self._do("sin")


def _interpreted(made) -> tuple[list[str], list[str]]:
    from reducer.emit.uses import Uses

    log: list[str] = []
    values = {"x": _Recorder(log)}
    for node in Uses(made.graph, made.schemas).nodes:
        first, *rest = (values[argument.name] for argument in node.args)
        method = {"add": "__add__", "mul": "__mul__"}.get(name := node.target.split(".")[1], name)
        values[node.name] = getattr(first, method)(*rest)
    return log, [values[output.name].shown for output in made.graph.outputs]


@generated(programs())
def test_source_evaluates_what_the_graph_says(made) -> None:
    text = write_source(made).text
    tree = ast.parse(text)
    function = next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef))
    stored = [
        n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    ]
    assert len(stored) == len(set(stored)), "each name is assigned once"
    assert max(map(len, text.splitlines())) <= 100

    class Torch:
        sin = staticmethod(_Recorder.sin)
        relu = staticmethod(_Recorder.relu)

    wanted_log, wanted = _interpreted(made)
    log: list[str] = []
    space: dict[str, object] = {"torch": Torch, "F": Torch}
    exec(compile(ast.Module([function], []), "source", "exec"), space)
    result = space["forward"](None, _Recorder(log))  # type: ignore[operator]
    shown = [item.shown for item in (result if isinstance(result, tuple) else (result,))]
    assert (log, shown) == (wanted_log, wanted)


@pytest.mark.parametrize("structure", [("dict:a,b", "*", "*"), ("list", "*", ("tuple", "*"))])
def test_structure(structure) -> None:
    made = replace(case((), "%x", "%x"), structure=structure)
    assert forward(made)[0] in ('return {"a": x, "b": x}', "return [x, (x,)]")


def test_what_registers_operators_comes_first() -> None:
    definitions = (
        "import torch\nfrom math import pi\nSCALE = pi\nlib = torch.library.Library('my', 'DEF')\n"
        "@torch.library.custom_op('my::twice', mutates_args=())\n"
        "def twice(x: torch.Tensor) -> torch.Tensor:\n    return x * SCALE\n"
        "lib.define('f(Tensor x) -> Tensor')\n"
    )
    made = case((call("a", "aten.relu.default", "%x"),), "%a")
    source = write_source(replace(made, recipe=replace(made.recipe, definitions=definitions)))
    assert "from math import pi" in source.imports
    assert source.body.startswith(
        "SCALE = pi\nlib = torch.library.Library('my', 'DEF')\n\n\n"
        "@torch.library.custom_op('my::twice', mutates_args=())\n"
        "def twice(x: torch.Tensor) -> torch.Tensor:\n    return x * SCALE\n\n\n"
        "lib.define('f(Tensor x) -> Tensor')\n\n\nclass Repro(torch.nn.Module):\n"
    )
