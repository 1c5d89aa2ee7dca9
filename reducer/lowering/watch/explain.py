"""What happens to a case on its way through the compiler? Lower it once, watched."""

from __future__ import annotations

from torch.export import ExportedProgram

from reducer.core.diagnosis import INVARIANTS, Census, Explanation, PartitionFacts, Violation
from reducer.core.signature import Frame, named_pass
from reducer.core.stage import Stage
from reducer.core.wire import ExplainJob
from reducer.lowering import recorder
from reducer.lowering.data import DataStore
from reducer.lowering.errors import SubjectError, headline
from reducer.lowering.failure import chain, failure_from_exception
from reducer.lowering.fx.to_fx import export_case
from reducer.lowering.pipeline import LoweringPlan, StageClock, lower, plan_from_recipe
from reducer.lowering.user_modules import provide
from reducer.lowering.watch.invariants import chosen
from reducer.lowering.watch.modes import census
from reducer.lowering.watch.run import Run
from reducer.lowering.watch.view import View
from reducer.lowering.watch.watch import Watch


def explain(job: ExplainJob, clock: StageClock) -> Explanation:
    """Rebuild, export and lower a case, watching every pass. Raises SubjectError.

    Without names of invariants all are watched.
    """
    recorder.install()  # a pass does not keep what it was constructed from
    watched = chosen(job.invariants)
    try:
        with clock.at(Stage.EXPORT):
            provide(job.case, job.data_dir)
            program = export_case(job.case, DataStore(job.data_dir))
        plan = plan_from_recipe(job.case.recipe)
    except SubjectError as error:
        return Explanation(invalid=error.message)
    except Exception as error:
        return Explanation(invalid=headline(error))
    return explain_lowering(program, plan, Watch(program, watched, clock), clock)


def explain_lowering(
    program: ExportedProgram, plan: LoweringPlan, watch: Watch, clock: StageClock
) -> Explanation:
    """Lower a program inside the watch, and put together what was seen."""
    error: Exception | None = None
    try:
        with watch:
            lower(program, plan, clock)
    except Exception as raised:
        error = raised
    failure = failure_from_exception(error, clock.stage or Stage.TO_EDGE) if error else None
    raising = _raising(watch, error)
    culprit = _culprit(watch, _where(watch, raising, failed=error is not None))
    broken = _worst(culprit.violations) if culprit else None
    modes = watch.census or census(View(program.graph_module, program))
    return Explanation(
        failure=failure,
        runs=tuple(run.record for run in watch.runs),
        culprit=culprit.index if culprit else None,
        broken=broken,
        raised=raising.index if raising else None,
        named=(named_pass(failure) if failure else "") or (raising.who.name if raising else ""),
        input_violations=tuple(watch.input_violations),
        created_in=_created_in(culprit, broken, modes),
        census=modes,
        partition=_partition(watch, raising or culprit),
        invariants=tuple(check.NAME for check in watch.invariants),
        seconds=clock.seconds,
    )


def _raising(watch: Watch, error: Exception | None) -> Run | None:
    """The innermost run from which the exception came."""
    links = chain(error) if error else []
    raised = [run for run in watch.runs if any(run.error is link for link in links)]
    return min(raised, key=lambda run: run.ended, default=None)


def _where(watch: Watch, raising: Run | None, *, failed: bool) -> int | None:
    """The number of the delegate in which lowering failed; None: outside of all, or not at all."""
    return raising.delegate if raising else watch.partitions.current if failed else None


def _culprit(watch: Watch, delegate: int | None) -> Run | None:
    """The run that broke something first.

    Of the same delegate's program as the failure, if there was such a run: what goes on elsewhere need
    not have to do with it. State that is shared comes last, since setting a flag breaks no graph.
    """
    found = watch.culprits
    near = [run for run in found if delegate is not None and run.delegate == delegate]
    graphs = [run for run in near or found if _worst(run.violations).invariant != INVARIANTS[-1]]
    return next(iter(graphs or near or found), None)


def _worst(violations: list[Violation]) -> Violation:
    return min(violations, key=lambda violation: INVARIANTS.index(violation.invariant))


def _created_in(culprit: Run | None, broken: Violation | None, modes: Census) -> Frame | None:
    """The nearest frame in a library that made what is wrong: the mode, else the pass's own code."""
    if culprit is None or broken is None:
        return None
    if broken.invariant == "one-fake-mode" and len(modes.modes) > 1:
        if created := modes.modes[-1].created:
            return created[0]
    module, _, function = culprit.who.function.partition(":")
    return Frame(module, function)


def _partition(watch: Watch, run: Run | None) -> PartitionFacts | None:
    """Of the delegate in which it happened."""
    number = run.delegate if run else watch.partitions.current
    if number is None or watch.origin is None:
        return None
    return watch.partitions.facts(number, watch.origin.of)
