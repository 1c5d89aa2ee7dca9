"""Which bugs are planted, in which models, and how small must they become?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from reducer.core.case import Case, Fill, Graph, Input, Node, Ref, TensorSpec
from reducer.core.recipe import Construct, Recipe
from reducer.core.stage import Stage
from reducer.graph.topology import output_names, topology
from tests.conformance.generated_cases import SCHEMAS
from tests.quality.planted import WANTED, Values

F32 = TensorSpec((4, 6), "float32")
STORED = Fill("data", digest="d")
#: Operators that a planted bug can be made of; the model itself has none of them.
MARKS = ("cos", "tan", "exp", "log", "abs", "neg", "sqrt", "floor")
PARTITIONER = Construct(
    "package.module:Partitioner", kwargs=(("force", True), ("level", 3), ("names", ("a", "b")))
)
RECIPE = Recipe("some", (PARTITIONER,), Construct("package:Config"), last_stage=Stage.PREPROCESS)


def target(name: str) -> str:
    return f"aten.{name}.default"


def chain(
    marks: dict[int, str],
    *,
    nodes: int = 128,
    dtype: str = "float32",
    outputs: tuple[int, ...] = (-1,),
    extra: tuple[Node, ...] = (),
    weights: Fill = STORED,
) -> Case:
    """Residual blocks (scale, sin, relu, add) in which some calls are of another operator.

    ``marks``: place of a call -> its operator. ``outputs`` are places of returned calls.
    """
    spec = replace(F32, dtype=dtype)
    inputs = [Input("x", "input", spec, Fill("random"))]
    calls: list[Node] = list(extra)
    last = entry = Ref("x")
    for place in range(nodes):
        name = f"n{place}"
        if place in marks:
            call = (target(marks[place]), (last,))
        elif place % 4 == 0:
            entry = last
            inputs.append(Input(f"w{place}", "parameter", spec, weights))
            call = ("aten.mul.Tensor", (last, Ref(f"w{place}")))
        elif place % 4 == 3:
            call = ("aten.add.Tensor", (last, entry))
        else:
            call = (target("sin" if place % 4 == 1 else "relu"), (last,))
        calls.append(Node(name, *call, spec=spec, module=f"blocks.{place // 16}.{place // 4 % 4}"))
        last = Ref(name)
    made = [node.name for node in calls[len(extra) :]]
    graph = Graph(tuple(inputs), tuple(calls), tuple(Ref(made[place]) for place in outputs))
    schemas = {f"aten.{name}.default": f"aten::{name}(Tensor self) -> Tensor" for name in MARKS}
    used = {node.target for node in calls}
    return Case(
        graph, RECIPE, schemas={t: s for t, s in {**SCHEMAS, **schemas}.items() if t in used}
    )


def calls_of(case: Case, name: str) -> list[Node]:
    return [node for node in case.graph.nodes if node.target == target(name)]


def has(case: Case, *names: str) -> bool:
    return all(calls_of(case, name) for name in names)


Predicate = Callable[[Case, Values], bool]


@dataclass(frozen=True)
class Scenario:
    """``size`` is (operators, inputs, outputs) of the smallest case; ``holds`` what else is true of it."""

    case: Case
    fails: Predicate
    size: tuple[int, int, int]
    holds: Callable[[Case], bool] = lambda case: True
    partition: tuple[str, ...] = ()

    def failure(self, case: Case, values: Values) -> str:
        return WANTED if self.fails(case, values) else ""


def window(first: int, last: int) -> tuple[str, ...]:
    return tuple(f"n{place}" for place in range(first, last + 1))


def _pair(case: Case, values: Values) -> bool:
    read = {node.args[0] for node in calls_of(case, "tan")}
    return any(Ref(node.name) in read for node in calls_of(case, "cos"))


def _of_constant(case: Case, values: Values) -> bool:
    """``tan(full(...))``: computed in the graph, from nothing that the caller passes."""
    made = {Ref(node.name) for node in calls_of(case, "full")}
    return any(node.args[0] in made for node in calls_of(case, "tan"))


def _anchored(case: Case, values: Values) -> bool:
    return _of_constant(case, values) and any(i.role == "input" for i in case.graph.inputs)


def _two_outputs(case: Case, values: Values) -> bool:
    return has(case, "cos") and len(set(output_names(case.graph))) >= 2


def _wide(case: Case, values: Values) -> bool:
    specs = [values[node.name] for node in calls_of(case, "cos")]
    return any(size >= 2 for spec in specs for size in spec.shape if isinstance(size, int))


def _integers(case: Case, values: Values) -> bool:
    return any(values[node.name].dtype == "int64" for node in calls_of(case, "cos"))


def _alpha(case: Case, values: Values) -> bool:
    return any(dict(node.kwargs).get("alpha", 1) != 1 for node in case.graph.nodes)


def _forced(case: Case, values: Values) -> bool:
    options = [key for item in case.recipe.partitioners for key, _ in item.kwargs]
    return has(case, "cos") and "force" in options


def _outside(case: Case, values: Values) -> bool:
    """A value that the caller decides: a constant in its place hides the bug."""
    outside = topology(case).from_outside
    return any(node.name in outside for node in calls_of(case, "cos"))


def _some_numbers_of(case: Case, values: Values) -> bool:
    """Fails with one or two of the marked calls and with all eight; passes with three to seven."""
    count = sum(len(calls_of(case, name)) for name in MARKS)
    return count in (1, 2, 8)


SPREAD = {place: MARKS[number] for number, place in enumerate(range(5, 128, 16))}
CONSTANT = (
    Node("f", "aten.full.default", ((4, 6), 2), spec=F32, module="position"),
    Node("t", target("tan"), (Ref("f"),), spec=F32, module="position"),
)


def _with_constant() -> Case:
    """The chain adds a constant in its middle."""
    made = chain({}, extra=CONSTANT)
    nodes = tuple(
        replace(node, target="aten.add.Tensor", args=(node.args[0], Ref("t")))
        if node.name == "n62"
        else node
        for node in made.graph.nodes
    )
    return made.with_graph(replace(made.graph, nodes=nodes))


def _with_alpha() -> Case:
    made = chain({})
    nodes = tuple(
        replace(node, kwargs=(("alpha", 0.125 if node.name == "n67" else 1),))
        if node.target == "aten.add.Tensor"
        else node
        for node in made.graph.nodes
    )
    return made.with_graph(replace(made.graph, nodes=nodes))


def _plain_recipe(case: Case) -> bool:
    return case.recipe == replace(
        RECIPE, partitioners=(Construct(PARTITIONER.path),), compile_config=None
    )


# Calls that lay far apart end as a chain, as a hand would write them.
SCENARIOS = {
    "single operator": Scenario(
        chain({70: "cos"}), lambda case, _: has(case, "cos"), (1, 1, 1), _plain_recipe,
        window(60, 80)),
    "adjacent pair": Scenario(
        chain({41: "cos", 42: "tan"}), _pair, (2, 1, 1), _plain_recipe, window(40, 50)),
    "three far apart": Scenario(
        chain({9: "cos", 61: "tan", 121: "exp"}), lambda case, _: has(case, "cos", "tan", "exp"),
        (3, 1, 1), _plain_recipe, window(8, 122)),
    "eight far apart": Scenario(
        chain(SPREAD), lambda case, _: has(case, *MARKS), (8, 1, 1), _plain_recipe,
        window(4, 120)),
    "a constant that must be computed": Scenario(
        _with_constant(), _of_constant, (2, 0, 1), _plain_recipe, ("f", "t")),
    "a constant and an anchor": Scenario(
        _with_constant(), _anchored, (2, 1, 1),
        lambda case: not set(output_names(case.graph)) & {i.name for i in case.graph.inputs},
        ("f", "t")),
    "a value that the caller decides": Scenario(
        chain({70: "cos"}), _outside, (1, 1, 1), lambda case: case.graph.inputs[0].role == "input",
        window(60, 80)),
    "two outputs": Scenario(
        chain({70: "cos"}, outputs=(20, 90, -1)), _two_outputs, (1, 1, 2), _plain_recipe,
        window(60, 80)),
    "a dimension of two": Scenario(
        chain({70: "cos"}), _wide, (1, 1, 1),
        lambda case: isinstance(case.graph.inputs[0].spec, TensorSpec)
        and case.graph.inputs[0].spec.elements == 2,
        window(60, 80)),
    "a dtype": Scenario(
        chain({70: "cos"}, dtype="int64"), _integers, (1, 1, 1),
        lambda case: case.graph.inputs[0].spec == TensorSpec((1,), "int64"), window(60, 80)),
    "a keyword argument": Scenario(
        _with_alpha(), _alpha, (1, 1, 1),
        lambda case: case.graph.nodes[0].kwargs == (("alpha", 0.0),), window(60, 80)),
    "an option of the partitioner": Scenario(
        chain({70: "cos"}), _forced, (1, 1, 1),
        lambda case: case.recipe.partitioners[0].kwargs == (("force", True),)
        and case.recipe.compile_config is None,
        window(60, 80)),
    "not monotone": Scenario(chain(SPREAD), _some_numbers_of, (1, 1, 1), partition=window(4, 120)),
}  # fmt: skip
