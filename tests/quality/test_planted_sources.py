"""How small does a source become that fails before there is a graph, and in how many calls?

The planted models are plain Python, run as they stand: what fails is one of their functions. Sizes are
what a careful person reaches; calls are pinned here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from reducer.core.case import Case, Graph
from reducer.core.order import sort_key
from reducer.core.python_source import normal
from reducer.core.recipe import Recipe
from reducer.core.signature import ChainLink, Failure
from reducer.core.stage import Stage
from reducer.core.verdict import Verdict
from reducer.core.wire import Attempt
from reducer.deltas import SOURCE
from reducer.oracle.judge import Judgement
from reducer.workflows.reduction import Reduction
from reducer.workflows.strategy import certificate, isolate, minimise

WANTED = "planted"

LAYERS = """
class Layer:
    def __init__(self, width, name="layer"):
        self.width, self.name = width, name
    def __call__(self, values):
        return [value + self.width for value in values]

class Bad(Layer):
    def __call__(self, values):
        out = super().__call__(values)
        if len(out) > 2:
            raise ArithmeticError("planted " + self.name)
        return out

class Net:
    def __init__(self, depth=6):
        self.layers = [Layer(size) for size in range(depth)]
        self.bad = Bad(9, name="deep")
        self.head = Layer(3)
    def __call__(self, values, scale=2):
        for layer in self.layers:
            values = layer(values)
        values = self.bad(values)
        return self.head([value * scale for value in values])

model = Net()
example_inputs = [1, 2, 3, 4]
def export():
    return model(example_inputs)
"""

TWO_PLACES = """
settings = {"mode": "strict", "level": 3}
def check(values, limit):
    total = sum(values)
    seen = [value for value in values if value > limit]
    if settings["mode"] == "strict" and len(seen) > 1:
        raise ArithmeticError("planted")
    return total, seen
def prepare(text):
    parts = text.split(",")
    return [int(part) for part in parts]
def export():
    values = prepare("4,8,15,16,23,42")
    total, seen = check(values, 10)
    return total
"""


@dataclass
class SourceOracle:
    """Runs a source, and calls its function."""

    calls: int = 0
    known: dict[str, Judgement] = field(default_factory=dict)

    def __call__(self, case: Case, *, then: object = ()) -> Judgement:
        if case.source not in self.known:
            self.known[case.source] = self._judge(case.source)
            self.calls += self.known[case.source].verdict.paid
        return self.known[case.source]

    def _judge(self, source: str) -> Judgement:
        try:
            names: dict[str, object] = {}
            exec(source, names)  # as planted above
            function = names["export"]
            assert callable(function)
        except Exception as error:
            return Judgement(Verdict.INVALID, Attempt(invalid=str(error)), str(error), 0.0, False)
        try:
            function()
        except Exception as error:
            failure = Failure(Stage.EXPORT, (ChainLink(type(error).__name__, str(error)),))
            wanted = isinstance(error, ArithmeticError) and str(error).startswith(WANTED)
            verdict = Verdict.SAME if wanted else Verdict.OTHER
            return Judgement(verdict, Attempt(failure), failure.headline, 0.0, False)
        return Judgement(Verdict.PASSES, Attempt(), "passes", 0.0, False)


def case(source: str) -> Case:
    recipe = Recipe("none", last_stage=Stage.EXPORT)
    return Case(Graph((), (), ()), recipe, source=normal(source))


@pytest.mark.parametrize(
    ("source", "statements", "calls"),
    [(LAYERS, 7, 93), (TWO_PLACES, 2, 56)],
    ids=["a part of a model", "two places"],
)
def test_it_becomes_this_small_in_so_many_calls(source: str, statements: int, calls: int) -> None:
    oracle = SourceOracle()
    reduction = Reduction(oracle)
    assert isolate(reduction, case(source), Attempt(), lambda _: None)
    minimise(reduction, lambda _: None)
    best = reduction.best
    assert (best.operators, oracle.calls) == (statements, calls), best.source
    seen = {(item.element, item.delta): item.verdict for item in certificate(reduction)}
    assert Verdict.SAME not in seen.values()
    for delta in SOURCE:  # 1-minimal, asked anew
        for edit in delta.edits(best):
            found = delta.apply(best, [edit])
            if found is not None and sort_key(found) < sort_key(best):
                assert oracle(found).verdict is not Verdict.SAME, edit


def test_the_part_at_fault_is_tried_first() -> None:
    part = normal("def export():\n    raise ArithmeticError('planted')")
    oracle = SourceOracle()
    reduction = Reduction(oracle)
    assert isolate(reduction, case(LAYERS), Attempt(parts=(part,)), lambda _: None)
    assert (reduction.best.source, oracle.calls) == (part, 1)
