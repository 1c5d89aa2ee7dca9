"""What else fails in the model? The calls that were found are masked, and the rest is lowered again.

A masked call's results come from outside: they become inputs of the program, of the same shape and dtype. So
what reads them is still lowered, and what only they needed is gone. Where the same failure is met again, as
in each layer of a stack, the calls at fault there are found by the first steps of a search, and masked too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace

from reducer.core.case import Case, Input, Node, TensorSpec, graph_references
from reducer.core.errors import ExitCode, ReducerError
from reducer.core.events import Event, Note, PhaseBegan
from reducer.core.signature import Signature, signature_of
from reducer.core.stage import Stage
from reducer.core.wire import Attempt
from reducer.graph.region import extract
from reducer.oracle.judge import Judge
from reducer.search.budget import Budget, BudgetSpent
from reducer.workflows.limits import judge_limits
from reducer.workflows.outcome import Outcome
from reducer.workflows.reduction import Reduction
from reducer.workflows.session import Session
from reducer.workflows.strategy import cut_down, isolate, with_last_stage


@dataclass(frozen=True)
class Found:
    """A failure that was reduced: how that ended, and the smallest case under the program's own names."""

    outcome: Outcome
    case: Case
    signature: Signature


#: Reduces one failure of a program, into the session's folder. Raises ReducerError.
Reduce = Callable[[Session, Case, Attempt], Found]


class Rest:
    """A program of which one failure after another is found and masked."""

    def __init__(self, session: Session, case: Case, attempt: Attempt, budget: Budget) -> None:
        self.case = replace(case, recipe=replace(case.recipe, last_stage=Stage.COMPARE))
        self.session, self.budget = session, budget
        self._limits = judge_limits(session.settings, attempt)
        self.known: list[Signature] = []
        self.masked = 0

    def outcomes(self, first: Found, reduce: Reduce) -> Iterator[Outcome]:
        """One for each further failure that is not one of those before. Raises ReducerError.

        Each is written to a folder of its own, called 2, 3, ... within that of the first.
        """
        found, number = first, 1
        while found.outcome.code is ExitCode.REDUCED:
            self.known.append(found.signature)
            attempt = self._next(found.case)
            if attempt is None:
                return
            number += 1
            session = replace(self.session, folder=self.session.folder.part(number), seconds={})
            found = reduce(session, self.case, attempt)
            yield found.outcome

    def _next(self, found: Case) -> Attempt | None:
        """How the program fails without the calls of a case; None if it does not, or cannot be asked."""
        self.session.report(PhaseBegan("mask", self.case.operators))
        try:
            with self.session.timed("mask"):
                told, attempt = self._after(found)
        except BudgetSpent as spent:
            told, attempt = spent.reason, None
        self.session.report(
            Note(f"{self.masked} masked, {self.case.operators} left: {told or 'another failure'}")
        )
        return attempt

    def _after(self, found: Case) -> tuple[str, Attempt | None]:
        """Why there is no further failure, or "" and how it fails."""
        if found.source:
            return "nothing behind a failure before there is a graph can be seen", None
        while True:
            rest = without(self.case, {node.name for node in _nodes(found)})
            if rest is None or rest.operators >= self.case.operators:
                return "what was found cannot be masked", None
            self.masked += self.case.operators - rest.operators
            self.case = rest
            judgement = self._judge(self.known[-1])(rest)
            attempt = judgement.attempt
            if attempt is None or attempt.invalid:
                return f"they are no program by themselves: {judgement.detail}", None
            if attempt.failure is None:
                return "they lower", None
            signature = signature_of(attempt.failure)
            if signature not in self.known:
                return "", attempt
            again = self._again(attempt, signature)
            if again is None:
                return "the same failure is met again, and is not found in a part", None
            found = again

    def _again(self, attempt: Attempt, signature: Signature) -> Case | None:
        """Another place of a known failure: its calls, found without making anything of them plainer."""
        reduction = Reduction(self._judge(signature))
        start = with_last_stage(self.case, attempt)
        if not isolate(reduction, start, attempt, _silent):
            return None
        cut_down(reduction, _silent)
        return reduction.best

    def _judge(self, wanted: Signature) -> Judge:
        return self.session.judge(wanted, self._limits, self.budget)


def with_further(first: Found, rest: Rest, reduce: Reduce) -> Outcome:
    """The first failure with all others; what was found is kept, whatever comes after it."""
    further: list[Outcome] = []
    code, message = first.outcome.code, first.outcome.message
    try:
        for outcome in rest.outcomes(first, reduce):
            further.append(outcome)
    except ReducerError as error:
        code, message = error.exit_code, f"further failures: {error.message}"
    except KeyboardInterrupt:
        code = ExitCode.INTERRUPTED
        message = (
            "Ctrl-C or SIGTERM came while further failures were sought; what was found is kept"
        )
    return replace(first.outcome, code=code, message=message, further=tuple(further))


def _silent(_: Event) -> None:
    """No phase of its own."""


def without(case: Case, names: Collection[str]) -> Case | None:
    """The program whose caller passes in what these calls give; None if nothing else would be left.

    A name may be that of a call in a subgraph: then the control-flow operator goes that holds it. What is
    passed in is contiguous, as callers' tensors are: an intermediate value's strides may not be.
    """
    kept = [node.name for node in case.graph.nodes if not _holds(case, node, names)]
    rest = extract(case, kept, "input") if kept else None
    if rest is None:
        return None
    given = {item.name for item in case.graph.inputs}
    inputs = (item if item.name in given else _contiguous(item) for item in rest.graph.inputs)
    return rest.with_graph(replace(rest.graph, inputs=tuple(inputs)))


def _contiguous(item: Input) -> Input:
    if not isinstance(item.spec, TensorSpec):
        return item
    return replace(item, spec=replace(item.spec, stride=None))


def _holds(case: Case, node: Node, names: Collection[str]) -> bool:
    inner = [case.subgraph(name) for name in graph_references((node.args, tuple(node.kwargs)))]
    return node.name in names or any(
        _holds(case, held, names) for graph in inner for held in graph.nodes
    )


def _nodes(case: Case) -> Iterator[Node]:
    for graph in (case.graph, *(graph for _, graph in case.subgraphs)):
        yield from graph.nodes
