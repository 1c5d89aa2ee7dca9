"""From a failing model to a confirmed minimal repro: the main job."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial

from reducer.core.case import Case
from reducer.core.errors import BadInput, NoEnvironment, WorkerDied
from reducer.core.events import Captured, Event, Note, Started
from reducer.core.releases import mismatch
from reducer.core.signature import signature_of
from reducer.core.wire import Attempt, Capture
from reducer.oracle.confirm import CleanInterpreter
from reducer.oracle.store import Store
from reducer.oracle.worker import Worker
from reducer.search.budget import Budget
from reducer.workflows.answers import captured_or_raise, failing_case
from reducer.workflows.capturing import capture, preload_for
from reducer.workflows.conclusion import Conclusion
from reducer.workflows.further import Found, Rest, with_further
from reducer.workflows.limits import judge_limits
from reducer.workflows.outcome import Outcome
from reducer.workflows.output import OutputFolder, open_output
from reducer.workflows.outward import outward
from reducer.workflows.precheck import check_subject
from reducer.workflows.search import Search
from reducer.workflows.session import Session
from reducer.workflows.settings import ReduceSettings
from reducer.workflows.source_strategy import size_before
from reducer.workflows.stopwatch import timed
from reducer.workflows.strategy import with_last_stage

#: Errors of the operating system that say that the output folder cannot take more.
_UNWRITABLE = (
    errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO
)  # fmt: skip


def reduce_subject(
    settings: ReduceSettings,
    report: Callable[[Event], None],
    *,
    open_worker: Callable[..., AbstractContextManager[Worker]] = Worker,
) -> Outcome:
    """Capture, isolate, reduce, emit, confirm. Raises ReducerError where it ends without a case.

    KeyboardInterrupt passes through as long as there is no case to keep. ``open_worker`` takes what
    :class:`~reducer.oracle.worker.Worker` takes.
    """
    check_subject(settings.subject)
    folder = open_output(settings)
    with folder.taken():
        return _in_folder(settings, report, open_worker, folder)


def _in_folder(
    settings: ReduceSettings,
    report: Callable[[Event], None],
    open_worker: Callable[..., AbstractContextManager[Worker]],
    folder: OutputFolder,
) -> Outcome:
    store = Store(folder.store)
    try:
        report(Started(settings.subject, settings.backend, folder.root, len(store)))
        preload = preload_for(settings)
        seconds: dict[str, float] = {}
        # Both import at once: two cores are all that a machine must have, and nothing else runs yet.
        with (
            open_worker(folder.log, python=settings.python, preload=preload) as worker,
            CleanInterpreter(settings.python, ("executorch.exir", *preload)) as clean,
        ):
            with timed(seconds, "start worker"):
                _ = worker.environment
            return _run(Session(settings, report, folder, store, worker, clean, seconds))
    except BadInput as error:
        if not len(store) and str(folder.log) not in error.hint:
            store.close()
            folder.remove_unused()
        raise
    except (NoEnvironment, WorkerDied) as error:
        error.hint = error.hint or f"its output is in {folder.log}"
        raise
    except OSError as error:
        if error.errno not in _UNWRITABLE:
            raise
        raise BadInput(
            f"cannot write to {folder.root}: {error.strerror}",
            hint="make room and run the same command again, or choose another folder with -o",
        ) from error
    finally:
        store.close()


def _run(session: Session) -> Outcome:
    """The whole job."""
    settings, folder = session.settings, session.folder
    with session.timed("capture"):
        taken = capture(settings, session.worker, session.store, folder)
    if taken.anew and (earlier := folder.set_aside()):
        session.report(Note(f"captured anew: the results of an earlier run are now in {earlier}"))
    captured = captured_or_raise(taken.result, settings, folder.log)
    case, _ = failing_case(captured, settings)
    versions = session.worker.environment
    ill_matched = mismatch(versions.executorch, versions.torch)
    captured = replace(captured, notes=(*captured.notes, *filter(None, [ill_matched])))
    budget = Budget(time.monotonic, settings.max_calls, settings.budget)
    reduce = partial(_reduced, captured=captured, budget=budget)
    first = reduce(session, case, captured.attempt)
    if not settings.every:
        return first.outcome
    return with_further(first, Rest(session, case, captured.attempt, budget), reduce)


def _reduced(
    session: Session, case: Case, attempt: Attempt, *, captured: Capture, budget: Budget
) -> Found:
    """One failure of what was captured, or of a part of it. Raises NotReproducible."""
    settings, failure = session.settings, attempt.failure
    assert failure is not None
    start, signature = with_last_stage(case, attempt), signature_of(failure)
    session.report(
        Captured(
            captured.form,
            failure.stage,
            failure,
            signature,
            start.recipe.backend,
            size_before(start, attempt),
            session.seconds.get("capture") or sum(spent for _, spent in attempt.seconds),
            captured.notes,
            start.unit,
        )
    )
    limits = judge_limits(settings, attempt)
    judge = session.judge(signature, limits, budget, spare=settings.jobs - 1)
    conclusion = Conclusion(
        session, judge.counts, failure, outward(captured, settings), limits, captured.notes
    )

    def improved(_: Case) -> None:
        conclusion.improved(search)

    search = Search(session, judge, start, attempt, limits, improved)
    try:
        outcome = conclusion.conclude(search, search.run())
    except KeyboardInterrupt:
        if not search.reduction.found:
            raise
        outcome = conclusion.interrupted(search)
    return Found(outcome, search.reduction.best, signature)
