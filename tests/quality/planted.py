"""An oracle without torch: a bug planted as a predicate on the case, and what calls to it cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from reducer.core.case import GETITEM, Argument, Case, Ref, TensorSpec
from reducer.core.finding import Evidence
from reducer.core.signature import ChainLink, Failure
from reducer.core.stage import Stage
from reducer.core.verdict import Verdict
from reducer.core.wire import Attempt, JudgeJob, Limits
from reducer.graph.canonical import case_digest
from reducer.oracle.ahead import Ahead, Question
from reducer.oracle.judge import Judgement
from reducer.oracle.worker import Answer
from reducer.workflows.reduction import Reduction
from reducer.workflows.strategy import certificate, isolate, minimise
from tests.conformance.generated_cases import problems

WANTED = "wanted"
Values = dict[str, TensorSpec]


@dataclass
class VirtualWorker:
    """Every job takes one unit of time; as many as are begun run at a time."""

    clock: int = 0
    begun: list[int] = field(default_factory=list)

    def submit(self, job: object, limits: object) -> int:
        self.begun.append(self.clock)
        return len(self.begun) - 1

    def wait(self, number: int) -> Answer:
        self.clock = max(self.clock, self.begun[number] + 1)
        return Answer(Attempt(), 1.0)

    def cancel(self, number: int) -> None:
        self.begun[number] = -1


def _question(case: Case) -> Question:
    return Question(case_digest(case), JudgeJob(case, ""), Limits(1.0))


@dataclass
class PlantedOracle:
    """Answers like the judge: a case that was asked about before costs nothing, an invalid one neither.

    ``fails`` gets a case and the shapes and dtypes of its values, and names the failure ("" for none).
    """

    fails: Callable[[Case, Values], str]
    calls: int = 0
    known: dict[str, Judgement] = field(default_factory=dict)
    worker: VirtualWorker = field(default_factory=VirtualWorker)
    jobs: int = 1

    def __post_init__(self) -> None:
        self.ahead = Ahead(self.worker, self.jobs - 1)  # type: ignore[arg-type]

    def __call__(self, case: Case, *, then: Iterable[tuple[Case, int]] = ()) -> Judgement:
        key = case_digest(case)
        if key in self.known:
            old = self.known[key]
            return Judgement(old.verdict, old.attempt, old.detail, 0.0, True)
        later = (_question(other) for other, _ in then)
        self.ahead.answer(
            _question(case), (other for other in later if other.key not in self.known)
        )
        judgement = self.known[key] = self._judge(case)
        self.calls += judgement.verdict.paid
        return judgement

    def _judge(self, case: Case) -> Judgement:
        attempt = attempted(case, self.fails)
        if attempt.invalid:
            return Judgement(Verdict.INVALID, attempt, attempt.invalid, 0.0, False)
        if attempt.failure is None:
            return Judgement(Verdict.PASSES, attempt, "passes", 0.0, False)
        verdict = Verdict.SAME if attempt.failure == planted(WANTED) else Verdict.OTHER
        return Judgement(verdict, attempt, attempt.failure.headline, 0.0, False)


def attempted(case: Case, fails: Callable[[Case, Values], str]) -> Attempt:
    """What the worker would say."""
    try:
        wrong = problems(case)
        values = infer(case)
    except ValueError as error:
        wrong, values = [str(error)], {}
    if wrong:
        return Attempt(invalid=wrong[0])
    name = fails(case, values)
    return Attempt(planted(name) if name else None)


def planted(name: str) -> Failure:
    """The failure of that name."""
    return Failure(Stage.PREPROCESS, (ChainLink("RuntimeError", f"planted: {name}"),))


@dataclass(frozen=True)
class Reduced:
    """What came of a case."""

    best: Case
    certificate: tuple[Evidence, ...]
    calls: int
    reduction: Reduction
    history: tuple[Case, ...]
    time: int
    abandoned: int


def reduce_planted(
    case: Case,
    fails: Callable[[Case, Values], str],
    partition: tuple[str, ...] = (),
    jobs: int = 1,
) -> Reduced:
    """Drive the strategy as the workflow does. ``partition`` is what the first failure names.

    ``time`` is in units of one call, ``jobs`` of which run at a time.
    """
    oracle = PlantedOracle(fails, jobs=jobs)
    history: list[Case] = []
    reduction = Reduction(oracle, improved=history.append)
    assert isolate(reduction, case, Attempt(partition=partition), lambda _: None)
    minimise(reduction, lambda _: None)
    found = certificate(reduction)
    time, abandoned = oracle.worker.clock, oracle.ahead.abandoned
    return Reduced(reduction.best, found, oracle.calls, reduction, tuple(history), time, abandoned)


def infer(case: Case) -> Values:
    """Shape and dtype of every tensor. Raises ValueError where shapes do not fit."""
    values: Values = {
        item.name: item.spec for item in case.graph.inputs if isinstance(item.spec, TensorSpec)
    }
    for node in case.graph.nodes:
        operands = [
            values[arg.name] for arg in node.args if isinstance(arg, Ref) and arg.name in values
        ]
        if node.target == "aten.full.default":
            values[node.name] = TensorSpec(_shape(node.args[0]), "float32")
        elif node.target == GETITEM or operands:
            values[node.name] = _broadcast(operands)
    return values


def _shape(argument: Argument) -> tuple[int, ...]:
    assert isinstance(argument, tuple)
    return tuple(size for size in argument if isinstance(size, int))


def _broadcast(operands: list[TensorSpec]) -> TensorSpec:
    first, *rest = operands
    shape = list(first.shape)
    for other in rest:
        if len(other.shape) != len(shape):
            raise ValueError(f"shapes {shape} and {other.shape} do not fit")
        for axis, size in enumerate(other.shape):
            if shape[axis] == 1:
                shape[axis] = size
            elif size not in (1, shape[axis]):
                raise ValueError(f"shapes {shape} and {other.shape} do not fit")
    return TensorSpec(tuple(shape), first.dtype)
