"""Which cases are there? A hypothesis strategy over all that a case can say, and what makes one sound."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from hypothesis import strategies as st

from reducer.core.case import (
    GETITEM,
    Argument,
    Atom,
    Case,
    Check,
    Fill,
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
    graph_references,
    node_references,
)
from reducer.core.recipe import Construct, Items, Recipe
from reducer.core.stage import REDUCIBLE
from reducer.graph.control_flow import LAYOUTS, operand_slots
from reducer.graph.prune import spec_symbols
from reducer.graph.topology import output_names

SCHEMAS = {
    "aten.sin.default": "aten::sin(Tensor self) -> Tensor",
    "aten.relu.default": "aten::relu(Tensor self) -> Tensor",
    "aten.add.Tensor": "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    "aten.mul.Tensor": "aten::mul.Tensor(Tensor self, Tensor other) -> Tensor",
    "aten.mul.Scalar": "aten::mul.Scalar(Tensor self, Scalar other) -> Tensor",
    "aten.sub.Tensor": "aten::sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    "aten.add_.Tensor": (
        "aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)"
    ),
    "aten.copy_.default": (
        "aten::copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)"
    ),
    "aten.view.default": "aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)",
    "aten.alias.default": "aten::alias(Tensor(a) self) -> Tensor(a)",
    "aten.split.Tensor": (
        "aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]"
    ),
    "aten.max.dim": (
        "aten::max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)"
    ),
    "aten.full.default": (
        "aten::full(SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, "
        "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
    ),
    "aten.arange.default": (
        "aten::arange(Scalar end, *, ScalarType? dtype=None, Layout? layout=None, "
        "Device? device=None, bool? pin_memory=None) -> Tensor"
    ),
    "aten.to.dtype": (
        "aten::to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, "
        "bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)"
    ),
    "aten.any.default": "aten::any(Tensor self) -> Tensor",
    "aten.item.default": "aten::item(Tensor self) -> Scalar",
    "aten.sym_size.int": "aten::sym_size.int(Tensor self, int dim) -> SymInt",
    "aten._assert_scalar.default": "aten::_assert_scalar(Scalar self, str assert_msg) -> ()",
}  # fmt: skip
NUMBERS = st.one_of(
    st.integers(-3, 12),
    st.sampled_from([1.0, 2.0, 0.0, -0.0, 1e-05, 10000.0, float("inf"), float("nan")]),
)
PLAIN = "float32"
_BOOL = TensorSpec((), "bool")


@dataclass
class _Builder:
    """A case that grows step by step; ``draw`` is hypothesis'."""

    draw: Callable[..., object]
    shape: tuple[Size, ...]
    writes: bool
    inputs: list[Input] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    subgraphs: list[tuple[str, Graph]] = field(default_factory=list)
    tensors: list[str] = field(default_factory=list)  # values of the case's own shape, float32
    others: list[str] = field(default_factory=list)  # further values that may be returned

    @property
    def spec(self) -> TensorSpec:
        return TensorSpec(self.shape, PLAIN)

    def pick(self) -> Ref:
        """A value; the latest one is the simplest choice."""
        place = self.draw(st.integers(0, len(self.tensors) - 1))
        return Ref(self.tensors[-1 - place])  # type: ignore[operator]

    def call(self, target: str, *args: Argument, spec: Spec, **kwargs: Argument) -> Ref:
        name = f"n{len(self.nodes)}"
        module = self.draw(st.sampled_from(["", "body", "body.layer", "head"]))
        self.nodes.append(Node(name, target, args, tuple(kwargs.items()), spec, str(module)))
        return Ref(name)

    def own(self, target: str, *args: Argument, **kwargs: Argument) -> None:
        """A call that gives a tensor of the case's shape."""
        self.tensors.append(self.call(target, *args, spec=self.spec, **kwargs).name)

    # One method per kind of step.

    def unary(self) -> None:
        self.own(self.draw(st.sampled_from(["aten.sin.default", "aten.relu.default"])), self.pick())  # type: ignore[arg-type]

    def binary(self) -> None:
        target = str(self.draw(st.sampled_from(["aten.add.Tensor", "aten.sub.Tensor"])))
        alpha = self.draw(st.none() | NUMBERS)
        kwargs = {} if alpha is None else {"alpha": alpha}
        self.own(target, self.pick(), self.pick(), **kwargs)  # type: ignore[arg-type]

    def scaled(self) -> None:
        self.own("aten.mul.Scalar", self.pick(), self.draw(NUMBERS))  # type: ignore[arg-type]

    def view(self) -> None:
        if all(isinstance(size, int) for size in self.shape):
            self.own("aten.view.default", self.pick(), self.shape)
        else:
            self.own("aten.alias.default", self.pick())

    def write(self) -> None:
        if not self.writes:
            return self.unary()
        written = Ref(str(self.draw(st.sampled_from([self.pick().name, self.inputs[0].name]))))
        target = str(self.draw(st.sampled_from(["aten.add_.Tensor", "aten.copy_.default"])))
        return self.own(target, written, self.pick())

    def items(self) -> None:
        source = self.call("aten.split.Tensor", self.pick(), 2, 1, spec=(self.spec, self.spec))
        for index in self.draw(st.sampled_from([(0,), (1,), (0, 1)])):  # type: ignore[attr-defined]
            self.own(GETITEM, source, index)

    def values(self) -> None:
        integers = TensorSpec(self.shape, "int64")
        pair = self.call("aten.max.dim", self.pick(), 1, True, spec=(self.spec, integers))
        self.own(GETITEM, pair, 0)
        if self.draw(st.booleans()):
            self.others.append(self.call(GETITEM, pair, 1, spec=integers).name)

    def source(self) -> None:
        dtype = Atom("dtype", str(self.draw(st.sampled_from([PLAIN, "float64", "int64"]))))
        numbers = tuple(size if isinstance(size, int) else 2 for size in self.shape)
        self.own("aten.full.default", numbers, self.draw(NUMBERS), dtype=dtype)  # type: ignore[arg-type]
        if self.draw(st.booleans()):
            self.own("aten.arange.default", self.draw(NUMBERS))  # type: ignore[arg-type]

    def converted(self) -> None:
        self.own("aten.to.dtype", self.pick(), Atom("dtype", PLAIN))

    def checked(self) -> None:
        number = self.call("aten.item.default", self.pick(), spec=ScalarSpec("int", "u0"))
        condition = self.call("operator:ge", number, 0, spec=ScalarSpec("bool"))
        self.call("aten._assert_scalar.default", condition, "u0 >= 0", spec=None)
        self.own("aten.mul.Scalar", self.pick(), number)

    def size(self) -> None:
        size = self.call("aten.sym_size.int", self.pick(), 0, spec=ScalarSpec("int"))
        self.own("aten.mul.Scalar", self.pick(), size)

    def condition(self) -> None:
        predicate = self.call("aten.any.default", self.pick(), spec=_BOOL)
        number = len(self.subgraphs)
        operands = tuple(self.pick() for _ in range(int(self.draw(st.integers(1, 2)))))  # type: ignore[call-overload]
        graphs = []
        for label in ("true", "false"):
            inner = self._inner(f"{label}{number}", len(operands), 1)
            self.subgraphs.append((f"{label}_graph_{number}", inner))
            graphs.append(GraphRef(f"{label}_graph_{number}"))
        made = self.call("higher_order.cond", predicate, *graphs, operands, spec=(self.spec,))
        self.own(GETITEM, made, 0)

    def loop(self) -> None:
        number = len(self.subgraphs)
        count = int(self.draw(st.integers(1, 2)))  # type: ignore[call-overload]
        carried = tuple(self.pick() for _ in range(count))
        extra = tuple(self.pick() for _ in range(int(self.draw(st.integers(0, 1)))))  # type: ignore[call-overload]
        total = len(carried) + len(extra)
        test = self._inner(f"test{number}", total, 1)
        last = Node(f"test{number}_any", "aten.any.default", (test.outputs[0],), spec=_BOOL)
        test = Graph(test.inputs, (*test.nodes, last), (Ref(last.name),))
        self.subgraphs.append((f"test_graph_{number}", test))
        self.subgraphs.append((f"body_graph_{number}", self._inner(f"body{number}", total, count)))
        graphs = (GraphRef(f"test_graph_{number}"), GraphRef(f"body_graph_{number}"))
        made = self.call(
            "higher_order.while_loop", *graphs, carried, extra, spec=(self.spec,) * count
        )
        for index in range(count):
            if index == 0 or self.draw(st.booleans()):
                self.own(GETITEM, made, index)

    def _inner(self, prefix: str, inputs: int, outputs: int) -> Graph:
        values = [f"{prefix}_in{place}" for place in range(inputs)]
        given = tuple(Input(name, "input", self.spec) for name in values)
        nodes = []
        for place in range(int(self.draw(st.integers(1, 3)))):  # type: ignore[call-overload]
            name = f"{prefix}_n{place}"
            read = [
                Ref(values[-1 - int(self.draw(st.integers(0, len(values) - 1)))]) for _ in range(2)
            ]  # type: ignore[call-overload]
            nodes.append(Node(name, "aten.mul.Tensor", tuple(read), spec=self.spec))
            values.append(name)
        return Graph(given, tuple(nodes), tuple(Ref(name) for name in values[-outputs:]))


STRAIGHT = ("unary", "binary", "scaled", "view", "write", "items", "values", "source", "converted",
            "checked", "size")  # fmt: skip
STEPS = (*STRAIGHT, "condition", "loop")


@st.composite
def cases(
    draw: Callable[..., object], steps: tuple[str, ...] = STEPS, *, writes: bool = True
) -> Case:
    """A sound case of up to eight steps over up to four inputs."""
    symbolic = draw(st.booleans())
    sizes = draw(st.lists(st.integers(1, 6), min_size=2, max_size=4))
    shape: tuple[Size, ...] = tuple(sizes)  # type: ignore[arg-type]
    symbols: tuple[Symbol, ...] = ()
    if symbolic:
        hint = draw(st.integers(2, 9))
        symbols = (Symbol("s0", hint, 2, draw(st.sampled_from([None, 64]))),)  # type: ignore[arg-type]
        shape = ("s0", *shape[1:])
    build = _Builder(draw, shape, writes)
    for _ in range(draw(st.integers(1, 4))):  # type: ignore[call-overload]
        build.inputs.append(draw(_inputs(f"x{len(build.inputs)}", shape, bool(build.inputs))))  # type: ignore[arg-type]
    build.tensors += [item.name for item in build.inputs]
    for step in draw(st.lists(st.sampled_from(steps), min_size=1, max_size=8)):  # type: ignore[attr-defined]
        getattr(build, step)()
    pool = [*build.tensors, *build.others]
    outputs = draw(st.lists(st.sampled_from(pool[::-1]), min_size=1, max_size=3, unique=True))
    structure = draw(st.sampled_from([None, "list", "dict"]))
    leaves = ("*",) * len(outputs)  # type: ignore[arg-type]
    if structure == "dict":
        kind = f"dict:{','.join(outputs)}"  # type: ignore[arg-type]
    else:
        kind = "list"
    targets = {n.target for g in (build.nodes, *(g.nodes for _, g in build.subgraphs)) for n in g}
    return Case(
        Graph(tuple(build.inputs), tuple(build.nodes), tuple(Ref(n) for n in outputs)),  # type: ignore[attr-defined]
        draw(recipes()),  # type: ignore[arg-type]
        tuple(build.subgraphs),
        symbols,
        {target: SCHEMAS[target] for target in sorted(targets) if target in SCHEMAS},
        None if structure is None else (kind, *leaves),
        draw(_checks(symbols, build.inputs)),  # type: ignore[arg-type]
    )


@st.composite
def _checks(
    draw: Callable[..., object], symbols: tuple[Symbol, ...], inputs: list[Input]
) -> tuple[Check, ...]:
    """Further inputs, each of which differs from the example and from the others."""
    found: dict[Check, None] = {}
    for _ in range(draw(st.integers(0, 2))):  # type: ignore[call-overload]
        sizes = tuple((s.name, s.hint + int(draw(st.integers(1, 20)))) for s in symbols)  # type: ignore[call-overload]
        named = [item.name for item in inputs if item.role == "input"]
        fills = tuple((name, Fill("ones")) for name in named if draw(st.booleans()))
        if sizes or fills:
            found[Check(sizes, fills)] = None
    return tuple(found)


@st.composite
def _inputs(
    draw: Callable[..., object], name: str, shape: tuple[Size, ...], any_role: bool
) -> Input:
    role = "input"
    if any_role:
        role = str(draw(st.sampled_from(["input", "parameter", "buffer", "constant"])))
    dtype = str(draw(st.sampled_from([PLAIN, "float64", "bfloat16"])))
    stride = None
    if all(isinstance(size, int) for size in shape):
        plain = [1]
        for size in reversed(shape):
            plain.append(plain[-1] * int(size))
        stride = draw(st.sampled_from([None, tuple(plain[:-1])]))
    fill = draw(
        st.sampled_from(
            [
                Fill("zeros"),
                Fill("ones"),
                Fill("full", values=(10,)),
                Fill("random", 3),
                Fill("data", digest="d"),
            ]
        )
    )
    spec = TensorSpec(shape, dtype, stride)  # type: ignore[arg-type]
    return Input(name, role, spec, fill, persistent=bool(draw(st.booleans())))  # type: ignore[arg-type]


@st.composite
def recipes(draw: Callable[..., object]) -> Recipe:
    """Partitioners with options, configs, passes, one step or two."""
    options = draw(st.dictionaries(st.sampled_from("abc"), _PLAIN_VALUES, max_size=2))
    partitioner = Construct("package.module:Partitioner", kwargs=tuple(options.items()))  # type: ignore[attr-defined]
    config = Construct("package.config:Config", kwargs=(("strict", False),))
    one_pass = Construct("package.passes:Pass", draw(st.sampled_from([(), (1,), (1, "two")])))  # type: ignore[arg-type]
    return Recipe(
        "some",
        (partitioner,) * int(draw(st.integers(0, 2))),  # type: ignore[call-overload]
        draw(st.sampled_from([None, config])),  # type: ignore[arg-type]
        draw(st.sampled_from([(), (one_pass,), (one_pass, config)])),  # type: ignore[arg-type]
        draw(st.sampled_from([None, config])),  # type: ignore[arg-type]
        bool(draw(st.booleans())),
        draw(st.sampled_from(REDUCIBLE)),  # type: ignore[arg-type]
    )


_TEXT = st.text("abé%\n", max_size=3)
_PLAIN_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 99) | _TEXT | st.binary(max_size=3),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2).map(tuple),
        st.lists(inner, max_size=2).map(lambda items: Items("list", tuple(items))),
        st.lists(st.tuples(_TEXT, inner), max_size=2).map(
            lambda items: Items("dict", tuple(items))
        ),
        st.builds(lambda item: Construct("package.module:Option", (item,), (("k", item),)), inner),
    ),
    max_leaves=4,
)


def problems(case: Case) -> list[str]:
    """What makes a case no program; empty for a sound one."""
    return list(_problems(case))


def _problems(case: Case) -> Iterator[str]:
    graphs = dict(case.subgraphs)
    names = [name for name, _ in case.subgraphs]
    for label, graph in (("", case.graph), *case.subgraphs):
        names += [item.name for item in graph.inputs] + [node.name for node in graph.nodes]
        known = {item.name for item in graph.inputs}
        for node in graph.nodes:
            for name in node_references(node):
                if name not in known:
                    yield f"{node.name} reads {name}, which is not computed before it"
            for name in graph_references(node.args):
                if name not in graphs:
                    yield f"{node.name} calls {name}, which does not exist"
            if ":" not in node.target and not node.target.startswith("higher_order."):
                if node.target not in case.schemas:
                    yield f"no schema of {node.target}"
            if node.target in LAYOUTS:
                yield from _operand_problems(node, graphs)
            known.add(node.name)
        for name in output_names(graph):
            if name not in known:
                yield f"{label or 'the graph'} returns {name}, which is not computed"
        if not graph.outputs:
            yield f"{label or 'the graph'} returns nothing"
    yield from (f"{name} is there {n} times" for name, n in Counter(names).items() if n > 1)
    declared = {symbol.name for symbol in case.symbols}
    for item in case.graph.inputs:
        if not spec_symbols(item.spec) <= declared:
            yield f"{item.name} has undeclared symbols"
    for check in case.checks:
        if not {name for name, _ in check.sizes} <= declared:
            yield "a check has undeclared symbols"
        if not {name for name, _ in check.fills} <= {item.name for item in case.graph.inputs}:
            yield "a check fills what is no input"
    if case.structure is not None and _leaves(case.structure) != len(case.graph.outputs):
        yield "the structure does not fit the outputs"


def _operand_problems(node: Node, graphs: dict[str, Graph]) -> Iterator[str]:
    layout, count = LAYOUTS[node.target], len(operand_slots(node))
    for name in graph_references(node.args):
        if name in graphs and len(graphs[name].inputs) != count:
            yield f"{node.name} passes {count} values to {name}"
    if layout.carried is not None:
        carried = node.args[layout.carried]
        body = node.args[layout.graphs[-1]]
        assert isinstance(body, GraphRef)
        assert isinstance(carried, tuple)
        if body.name in graphs and len(graphs[body.name].outputs) != len(carried):
            yield f"{body.name} does not return as many values as {node.name} carries"


def _leaves(structure: object) -> int:
    if isinstance(structure, tuple):
        return sum(_leaves(child) for child in structure[1:])
    return 1
