"""Can the failure be shown with one compiler pass alone? The smallest graph for it, made by hand."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from reducer.core.case import Case
from reducer.core.diagnosis import Explanation, PassRun, Violation
from reducer.core.finding import PassLevel
from reducer.core.recipe import Construct, PassCall
from reducer.core.signature import (
    ChainLink,
    Failure,
    MatchRule,
    normalise_message,
    raise_site,
    signature_of,
)
from reducer.core.wire import Attempt, JudgeJob, Limits, PassGraph, PassGraphJob
from reducer.diagnose.wording import stack
from reducer.graph.canonical import case_digest
from reducer.oracle.judge import Judge
from reducer.oracle.remembered import remembered
from reducer.oracle.store import Store
from reducer.oracle.worker import Worker
from reducer.search.budget import Budget, BudgetSpent
from reducer.workflows.reduction import Reduction
from reducer.workflows.strategy import minimise

#: A call takes milliseconds: a search of this many ends within seconds.
_MOST_CALLS = 150
_MOST_SECONDS = 6.0
#: How many passes before the one at fault are run as well, where it alone does no harm.
_BACK = (2, 8, 24)


@dataclass(frozen=True)
class PassSearch:
    """Where to ask: a worker, what is known already, the folder of tensors, what a call may use.

    ``spare`` calls may run beside the one that is waited for.
    """

    worker: Worker
    store: Store
    data: Path
    limits: Limits
    spare: int = 0

    def graph(self, case: Case, run: PassRun) -> PassGraph:
        """The graph that a run of a pass was given, as a case that runs this pass alone."""
        key = ("pass graph", f"{case_digest(case)} {run.index}")
        job = PassGraphJob(case, str(self.data), run.index)
        result = remembered(self.worker, self.store, key, job, self.limits, PassGraph)
        if not isinstance(result, PassGraph):
            return PassGraph(reason=f"its graph could not be read: {result}")
        return result

    def failure(self, case: Case, oracle: str) -> Attempt:
        """What the pass does to the graph of a case, run alone."""
        answer = self.worker.run(JudgeJob(case, str(self.data), oracle), self.limits)
        if isinstance(answer.result, Attempt):
            return answer.result
        return Attempt(invalid=f"{answer.result}")

    def smallest(self, case: Case, failure: Failure, oracle: str) -> tuple[Case, Failure]:
        """The smallest case that fails in the same way, and how it fails."""
        judge = Judge(
            self.worker,
            self.store,
            Budget(time.monotonic, _MOST_CALLS, _MOST_SECONDS),
            data_dir=self.data,
            wanted=signature_of(failure),
            rule=MatchRule(),
            limits=self.limits,
            invariant=oracle,
            spare=self.spare,
        )
        reduction = Reduction(judge)
        with suppress(BudgetSpent):  # small enough by then
            if reduction.offer(case, "pass graph"):
                minimise(reduction, lambda _: None)
        judge.forget()
        if not reduction.found:
            return case, failure
        found = reduction.attempt.failure if reduction.attempt else None
        return reduction.best, found or failure


def pass_level(
    explanation: Explanation, case: Case, search: PassSearch, oracle: str = ""
) -> PassLevel:
    """The failure of a diagnosed case as one pass shows it; not yet confirmed. Or why it cannot be.

    ``oracle``: the invariant whose violation is the failure, "" if lowering raises.
    """
    reasons = []
    for run, broken in _guilty(explanation, oracle):
        invariant = broken.invariant if broken else ""
        if run.takes == "more":
            reasons.append(f"{run.name} cannot be run on a graph alone: it is called with more")
            continue
        if run.construct is None:
            made = f", which was made from ({', '.join(run.arguments)})" if run.arguments else ""
            reasons.append(f"no call is known that constructs {run.name}{made}")
            continue
        for start in _starts(explanation, run):
            given = search.graph(case, start)
            if given.case is None:
                reasons.append(f"{run.name}: {given.reason}")
                break
            call = PassCall(run.construct, run.takes, _between(explanation, start, run))
            recipe = replace(given.case.recipe, alone=call, last_stage=run.stage)
            alone = replace(given.case, recipe=recipe)
            attempt = search.failure(alone, invariant)
            if attempt.failure is not None and _same(explanation, attempt.failure, broken):
                smallest, failure = search.smallest(alone, attempt.failure, invariant)
                return PassLevel(smallest, failure, invariant, "unconfirmed")
            reasons.append(f"{run.name}, run alone on such a graph, {_instead(attempt)}")
    return PassLevel(reason="; ".join(dict.fromkeys(reasons)) or _outside(explanation))


def _guilty(explanation: Explanation, oracle: str) -> Iterator[tuple[PassRun, Violation | None]]:
    """The run that broke an invariant, and which, else the one that raised.

    Innermost first, then what it is nested in.
    """
    index, broken = explanation.raised, None
    if explanation.culprit is not None:
        index, broken = explanation.culprit, explanation.broken
    if oracle:
        index, broken = next(
            ((run.index, item) for run in explanation.runs for item in run.violations
             if item.invariant == oracle),
            (None, None),
        )  # fmt: skip
    if index is not None:
        for run in reversed(stack(explanation, explanation.runs[index])):
            yield run, broken


def _starts(explanation: Explanation, run: PassRun) -> Iterator[PassRun]:
    """The run, and earlier ones on the same graph: what it reads may be what those note at nodes."""
    yield run
    before = _level(explanation, run)[: _level(explanation, run).index(run)]
    for back in dict.fromkeys(min(back, len(before)) for back in _BACK):
        if back:
            yield before[-back]


def _between(explanation: Explanation, start: PassRun, run: PassRun) -> tuple[Construct, ...]:
    """The passes from ``start`` up to ``run``, as far as they can be made and called with a graph."""
    level = _level(explanation, run)
    passes = level[level.index(start) : level.index(run)]
    calls = [PassCall(item.construct, item.takes) for item in passes if item.construct is not None]
    return tuple(c.construct for c in calls if c.takes == "graph" and not c.needs_program)


def _level(explanation: Explanation, run: PassRun) -> list[PassRun]:
    return [
        other
        for other in explanation.runs
        if (other.parent, other.delegate) == (run.parent, run.delegate)
    ]


def _same(explanation: Explanation, failure: Failure, broken: Violation | None) -> bool:
    """Whether what is seen of the pass alone is what was seen on the way through the compiler."""
    found = failure.chain[-1]
    if broken is not None:
        return (found.type, found.message) == (broken.invariant, broken.what)
    return explanation.failure is not None and _key(found) == _key(explanation.failure.chain[-1])


def _key(link: ChainLink) -> tuple[str, str, str]:
    return link.type, raise_site(link), normalise_message(link.message)


def _instead(attempt: Attempt) -> str:
    if attempt.invalid:
        return f"cannot be: {attempt.invalid}"
    if attempt.failure is None:
        return "does no harm: it needs more of the program than a graph made by hand has"
    return f"fails in another way: {attempt.failure.headline}"


def _outside(explanation: Explanation) -> str:
    """Why no pass can be run alone."""
    if explanation.failure is not None:
        place = raise_site(explanation.failure.chain[-1])
        frames = [frame for link in explanation.failure.chain for frame in link.frames]
        exir = [frame for frame in frames if frame.module.startswith("executorch.")]
        via = f"{exir[-1].module}:{exir[-1].function}" if exir else place
        called = "" if via == place else f", called from {via}"
        return f"it is raised outside of every pass that was watched, in {place}{called}"
    if explanation.input_violations:
        return "the program that was handed in is at fault, not a pass"
    return "lowering passes, and no pass breaks what was watched"
