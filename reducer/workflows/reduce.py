"""From a failing model to a confirmed minimal repro: the main job."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path

from reducer.core.case import Case
from reducer.core.diagnosis import Diagnosis
from reducer.core.errors import (
    BadInput,
    ExitCode,
    NoEnvironment,
    NotReproducible,
    ReducerError,
    WorkerDied,
)
from reducer.core.events import Captured, Confirmed, Event, Improved, Note, PhaseBegan, Started
from reducer.core.finding import Elsewhere, Evidence, Finding
from reducer.core.releases import mismatch
from reducer.core.signature import signature_of
from reducer.core.wire import (
    Capture,
    Limits,
    RebuildJob,
    Spelled,
    SpellJob,
    Versions,
    VersionsJob,
)
from reducer.emit.settle import settle, wanted_targets
from reducer.emit.spelling import Spelling
from reducer.oracle.confirm import Confirmation, confirm
from reducer.oracle.judge import Judge
from reducer.oracle.store import Store
from reducer.oracle.worker import Worker
from reducer.search.budget import Budget, BudgetSpent
from reducer.workflows.answers import captured_or_raise, difference, failing_case
from reducer.workflows.artefacts import Artefacts, ledger
from reducer.workflows.capturing import capture, preload_for
from reducer.workflows.elsewhere import elsewhere
from reducer.workflows.explain import explain_case
from reducer.workflows.output import OutputFolder, open_output
from reducer.workflows.outward import outward
from reducer.workflows.precheck import check_subject
from reducer.workflows.reduction import Reduction
from reducer.workflows.settings import ReduceSettings
from reducer.workflows.stopwatch import timed
from reducer.workflows.strategy import isolate, minimise, with_last_stage

#: A call may take this many times the seconds of the first run, and at least as long as the floor.
_TIMEOUT_FACTOR = 10
_TIMEOUT_FLOOR = 60.0
#: The first run has no baseline to learn from.
_FIRST_TIMEOUT = 3600.0

#: Errors of the operating system that say that the output folder cannot take more.
_UNWRITABLE = (
    errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO
)  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """How a run ended: exit code, what was found, where it is; ``message`` if it fell short."""

    code: ExitCode
    finding: Finding = field(repr=False)  # a whole case
    folder: OutputFolder
    seconds: Mapping[str, float] = field(repr=False)
    message: str = ""


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
    store = Store(folder.store)
    try:
        report(Started(settings.subject, settings.backend, folder.root, len(store)))
        preload = preload_for(settings)
        with open_worker(folder.log, python=settings.python, preload=preload) as worker:
            return _Run(settings, report, folder, store, worker).run()
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


class _Run:
    """One run: what was captured, the search, and what is written."""

    def __init__(
        self,
        settings: ReduceSettings,
        report: Callable[[Event], None],
        folder: OutputFolder,
        store: Store,
        worker: Worker,
    ) -> None:
        self.settings, self.report, self.folder = settings, report, folder
        self.store, self.worker = store, worker
        self.artefacts = Artefacts(folder)
        self.seconds: dict[str, float] = {}
        self.certificate: tuple[Evidence, ...] = ()
        self.diagnosis: Diagnosis | None = None
        self.elsewhere: tuple[Elsewhere, ...] = ()
        self.versions: tuple[str, ...] = ()
        self.traceback = ""

    def run(self) -> Outcome:
        """The whole job."""
        with timed(self.seconds, "start worker"):
            _ = self.worker.environment
        with timed(self.seconds, "capture"):
            taken = capture(self.settings, self.worker, self.store, self.folder, _FIRST_TIMEOUT)
        if taken.anew and (earlier := self.folder.set_aside()):
            self.report(Note(f"captured anew: the results of an earlier run are now in {earlier}"))
        captured = captured_or_raise(taken.result, self.settings, self.folder.log)
        case, self.failure = failing_case(captured, self.settings)
        self.start = with_last_stage(case, captured.attempt)
        self.signature = signature_of(self.failure)
        self.outward = outward(captured, self.settings)
        versions = self.worker.environment
        ill_matched = mismatch(versions.executorch, versions.torch)
        self.notes = (*captured.notes, *filter(None, [ill_matched]))
        self._report_capture(captured)
        first = sum(seconds for _, seconds in captured.attempt.seconds)  # the same when resumed
        self.limits = Limits(self.settings.timeout or max(_TIMEOUT_FLOOR, _TIMEOUT_FACTOR * first))
        self.judge = Judge(
            self.worker,
            self.store,
            Budget(time.monotonic, self.settings.max_calls, self.settings.budget),
            data_dir=self.folder.data,
            wanted=self.signature,
            rule=self.settings.rule,
            limits=self.limits,
            invariant=self.settings.oracle,
        )
        self.reduction = Reduction(self.judge, report=self.report, improved=self._write_best)
        try:
            return self._emit(self._search(captured))
        except KeyboardInterrupt:
            if not self.reduction.found:
                raise
            self._write_best(self.reduction.best)
            paid = self.judge.counts.paid
            calls = f"{paid} paid call{'' if paid == 1 else 's'}"
            message = f"Ctrl-C or SIGTERM came after {calls}; the best so far is kept"
            return self._end(ExitCode.INTERRUPTED, "interrupted", {}, message)

    def _report_capture(self, captured: Capture) -> None:
        self.report(
            Captured(
                captured.form,
                self.failure.stage,
                self.failure,
                self.signature,
                self.start.recipe.backend,
                self.start.operators,
                self.seconds["capture"],
                self.notes,
            )
        )

    def _search(self, captured: Capture) -> str:
        """Reduce; returns why it stopped early, or ""."""
        try:
            with timed(self.seconds, "search"):
                if not isolate(self.reduction, self.start, captured.attempt, self.report):
                    raise self._not_rebuilt()
                self.certificate = minimise(self.reduction, self.report)
        except BudgetSpent as spent:
            if self.reduction.found:
                return spent.reason
            error = ReducerError(
                f"{spent.reason} before any case was confirmed to fail",
                hint="allow more and run the same command again: what was paid for is kept",
            )
            error.exit_code = ExitCode.STOPPED
            raise error from spent
        return ""

    def _emit(self, stopped: str) -> Outcome:
        best = self.reduction.best
        self.report(PhaseBegan("confirm", best.operators))
        spelling, confirmation = self._told(best)
        named = self.outward.keeping_names()
        if not confirmation.ok and named.case(best) != self.outward.case(best):
            self.outward = named
            spelling, confirmation = self._told(best)
            self.notes += ("names of the model's own are kept: without them it does not fail",)
        if not confirmation.ok:
            self._end(ExitCode.NOT_REPRODUCIBLE, "unconfirmed", spelling)
            raise NotReproducible(
                f"the smallest case fails in the warm worker, but {self.folder.repro}, run in a"
                f" clean process, gives: {confirmation.meaning}",
                hint=f"the last it printed: {confirmation.output.strip()[-300:]}",
            )
        self.traceback = self.outward.scrubber.text(confirmation.traceback)
        with timed(self.seconds, "diagnose"):
            self._diagnose(best)
        with timed(self.seconds, "other backends"):
            self._compare(best)
        if stopped:
            stopped += "; smaller may be possible"
            return self._end(ExitCode.STOPPED, "stopped", spelling, stopped)
        return self._end(ExitCode.REDUCED, "confirmed", spelling)

    def _told(self, best: Case) -> tuple[Spelling, Confirmation]:
        """Write the script in the most ordinary words that fail as the case does."""
        with timed(self.seconds, "write"):
            spelling = settle(self.outward.case(best), self._ask).spelling
        confirmation = self._confirmed(spelling)
        if not confirmation.ok:  # ordinary spelling may hide what the search saw
            spelling = dict.fromkeys(wanted_targets(best), -1)  # the last way: torch.ops
            confirmation = self._confirmed(spelling)
        return spelling, confirmation

    def _compare(self, best: Case) -> None:
        """Ask what a report says besides: the other backends, and the versions of all libraries."""
        self.elsewhere = elsewhere(
            best, self.worker, self.store, self.folder.data, self.limits, self.signature,
            self.settings.rule, self.settings.oracle,
        )  # fmt: skip
        answer = self.worker.run(VersionsJob(), self.limits).result
        self.versions = answer.lines if isinstance(answer, Versions) else ()

    def _diagnose(self, best: Case) -> None:
        """Say what really broke; a repro is worth as much without it."""
        seconds, told = self.limits.seconds, self.outward.case(best)
        certificate = self.outward.certificate(best, self.certificate)
        try:
            self.diagnosis = explain_case(
                told, self.worker, self.store, self.folder.data, seconds, (), certificate
            )
        except ReducerError as error:
            self.notes += (f"not diagnosed: {error.message}",)

    def _confirmed(self, spelling: Spelling) -> Confirmation:
        self.artefacts.write(self._finding("unconfirmed"), spelling)
        with timed(self.seconds, "confirm"):
            python, seconds = self.settings.python, self.limits.seconds
            confirmation = confirm(self.folder.repro, python=python, seconds=seconds)
        self.report(Confirmed(confirmation.ok, self.folder.repro, confirmation.seconds))
        return confirmation

    def _end(self, code: ExitCode, status: str, spelling: Spelling, message: str = "") -> Outcome:
        finding = self._finding(status)
        others = self.artefacts.write_others(self.reduction.slips, finding, self.outward)
        finding = replace(finding, slips=others)
        self.artefacts.write(finding, spelling)
        if code is not ExitCode.NOT_REPRODUCIBLE:
            self.artefacts.write_report(finding, spelling, self.traceback)
        return Outcome(code, finding, self.folder, self.seconds, message)

    def _not_rebuilt(self) -> ReducerError:
        judgement = self.judge(self.start)
        rebuilt = self.worker.run(RebuildJob(self.start, str(self.folder.data)), self.limits).result
        different = difference(self.start, rebuilt)
        return NotReproducible(
            f"the captured program, rebuilt, does not fail the same way: {judgement.verdict} "
            f"({judgement.detail}); {different}",
            hint="if running the subject again fails only sometimes, it is flaky; settings that it"
            " makes for its whole process (warning filters, default dtype or device, environment"
            " variables) are not part of the case; otherwise please report this model",
        )

    def _ask(self, source: str) -> Spelled:
        result = self.worker.run(SpellJob(source), self.limits).result
        if isinstance(result, Spelled):
            return result
        return Spelled(error=f"{type(result).__name__}")

    def _write_best(self, case: Case) -> None:
        path = self.artefacts.write(self._finding("unconfirmed"), {})
        self.report(Improved(case.operators, path))

    def _finding(self, status: str) -> Finding:
        attempt = self.reduction.attempt
        found = Finding(
            subject=Path(self.settings.subject).name,
            case=self.reduction.best,
            signature=self.signature,
            failure=attempt.failure if attempt and attempt.failure else self.failure,
            rule=self.settings.rule,
            environment=replace(self.worker.environment, accelerations=()),
            status=status,
            operators_before=self.start.operators,
            certificate=self.certificate,
            ledger=ledger(self.judge.counts, self.reduction, self.seconds),
            notes=self.notes,
            diagnosis=self.diagnosis,
            oracle=self.settings.oracle,
            elsewhere=self.elsewhere,
            versions=self.versions,
        )
        return self.outward.finding(found)
