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
from reducer.core.finding import Evidence, Finding, PassLevel
from reducer.core.releases import mismatch
from reducer.core.signature import signature_of
from reducer.core.wire import Capture, RebuildJob, Spelled, SpellJob
from reducer.emit.settle import settle, wanted_targets
from reducer.emit.spelling import Spelling
from reducer.oracle.confirm import CleanProcess, Confirmation, confirm
from reducer.oracle.judge import Judge
from reducer.oracle.repeated import AGAIN, TIMES, Rate, Repeated, rate
from reducer.oracle.store import Store
from reducer.oracle.worker import Worker
from reducer.search.budget import Budget, BudgetSpent
from reducer.workflows.answers import captured_or_raise, difference, failing_case
from reducer.workflows.artefacts import Artefacts, ledger
from reducer.workflows.capturing import capture, preload_for
from reducer.workflows.explain import explain_case
from reducer.workflows.limits import judge_limits
from reducer.workflows.output import OutputFolder, open_output
from reducer.workflows.pass_level import PassSearch, pass_level
from reducer.workflows.precheck import check_subject
from reducer.workflows.reduction import Oracle, Reduction
from reducer.workflows.settings import ReduceSettings
from reducer.workflows.stopwatch import timed
from reducer.workflows.strategy import certificate, isolate, minimise, with_last_stage

#: How often the result is run again, to be sure that it fails each time.
_CHECKED_AGAIN = 2
#: A fresh process imports torch and executorch, and may have to wait for a hang, in seconds.
_CONFIRM_FLOOR = 300.0

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
        seconds: dict[str, float] = {}
        with open_worker(folder.log, python=settings.python, preload=preload) as worker:
            with timed(seconds, "start worker"):
                _ = worker.environment
            # They import while the search goes on: a second core is free then.
            with (
                CleanProcess(settings.python, ("executorch.exir", *preload)) as clean,
                CleanProcess(settings.python, ("executorch.exir",)) as clean_pass,
            ):
                processes = (clean, clean_pass)
                return _Run(settings, report, folder, store, worker, processes, seconds).run()
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
        processes: tuple[CleanProcess, CleanProcess],
        seconds: dict[str, float],
    ) -> None:
        self.settings, self.report, self.folder = settings, report, folder
        self.store, self.worker = store, worker
        self.clean, self.clean_pass = processes
        self.artefacts = Artefacts(folder)
        self.seconds = seconds
        self.certificate: tuple[Evidence, ...] = ()
        self.diagnosis: Diagnosis | None = None
        self.repeated: Repeated | None = None
        self.rate = Rate(0, 0)
        self.flaky = ""
        self.pass_level: PassLevel | None = None

    def run(self) -> Outcome:
        """The whole job."""
        with timed(self.seconds, "capture"):
            taken = capture(self.settings, self.worker, self.store, self.folder)
        if taken.anew and (earlier := self.folder.set_aside()):
            self.report(Note(f"captured anew: the results of an earlier run are now in {earlier}"))
        captured = captured_or_raise(taken.result, self.settings, self.folder.log)
        case, self.failure = failing_case(captured, self.settings)
        self.start = with_last_stage(case, captured.attempt)
        self.signature = signature_of(self.failure)
        versions = self.worker.environment
        ill_matched = mismatch(versions.executorch, versions.torch)
        self.notes = (*captured.notes, *filter(None, [ill_matched]))
        self._report_capture(captured)
        self.limits = judge_limits(self.settings, captured.attempt)
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
        self.reduction = self._reduction(self.judge)
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

        def search() -> None:
            if not isolate(self.reduction, self.start, captured.attempt, self.report):
                self._again_as_flaky(captured)
            minimise(self.reduction, self.report)
            again = rate(self.judge, self.reduction.best, _CHECKED_AGAIN, AGAIN)
            if self.repeated is None and not again.steady:
                self._again_as_flaky(captured)
                minimise(self.reduction, self.report)
            if self.repeated is not None:
                self._tell_rate()

        stopped = self._within_budget("search", search)
        if not self.reduction.found:
            error = ReducerError(
                f"{stopped} before any case was confirmed to fail",
                hint="allow more and run the same command again: what was paid for is kept",
            )
            error.exit_code = ExitCode.STOPPED
            raise error
        return stopped

    def _within_budget(self, name: str, work: Callable[[], None]) -> str:
        """Do the work; returns why it stopped early, or ""."""
        try:
            with timed(self.seconds, name):
                work()
        except BudgetSpent as spent:
            return spent.reason
        return ""

    def _reduction(self, oracle: Oracle) -> Reduction:
        return Reduction(oracle, report=self.report, improved=self._write_best)

    def _again_as_flaky(self, captured: Capture) -> None:
        """The verdicts disagree: learn how often the start fails, and search by majorities.

        Raises NotReproducible if it never does.
        """
        self.rate = rate(self.judge, self.start)
        if not self.rate.failed:
            raise self._not_rebuilt()
        self.report(Note(f"flaky: the whole program fails in {self.rate}"))
        self.repeated = Repeated(self.judge, self.rate)
        self.reduction = self._reduction(self.repeated)
        if not isolate(self.reduction, self.start, captured.attempt, self.report):
            raise self._not_rebuilt()

    def _tell_rate(self) -> None:
        """Run the result again, and say how often it fails beside how often the start did."""
        found = rate(self.judge, self.reduction.best, TIMES, AGAIN)
        self.flaky = f"in {found}; the whole program in {self.rate}"
        self.notes += (f"flaky: it fails {self.flaky}",)

    def _emit(self, stopped: str) -> Outcome:
        """Write the best case and confirm it; what it means is asked while the script runs."""
        best = self.reduction.best
        self.report(PhaseBegan("confirm", best.operators))
        with timed(self.seconds, "write"):
            spelling = settle(best, self._ask).spelling
        self.artefacts.clear()
        self.artefacts.write(self._finding("unconfirmed"), spelling)
        self.clean.start(self.folder.repro)
        stopped = self._within_budget("certify", self._certify) or stopped
        self._diagnose(best)
        with timed(self.seconds, "confirm"):
            confirmation = self._confirmed(self.clean.wait(self._confirm_seconds))
            if not confirmation.ok:  # ordinary spelling may hide what the search saw
                spelling = dict.fromkeys(wanted_targets(best), -1)  # the last way: torch.ops
                self.artefacts.write(self._finding("unconfirmed"), spelling)
                confirmation = self._confirmed(self._run_clean())
        if not confirmation.ok:
            self._end(ExitCode.NOT_REPRODUCIBLE, "unconfirmed", spelling)
            raise NotReproducible(
                f"the smallest case fails in the warm worker, but {self.folder.repro}, run in a"
                f" clean process, gives: {confirmation.meaning}",
                hint=f"the last it printed: {confirmation.output.strip()[-300:]}",
            )
        self.artefacts.write_test(self._finding("confirmed"), spelling)
        if stopped:
            stopped += "; smaller may be possible"
            return self._end(ExitCode.STOPPED, "stopped", spelling, stopped)
        return self._end(ExitCode.REDUCED, "confirmed", spelling)

    def _confirmed(self, first: Confirmation) -> Confirmation:
        """What a clean process did; what fails now and then may also pass, and is run again."""
        runs = self.repeated.runs if self.repeated else 1
        confirmation = first
        for _ in range(runs - 1):
            if confirmation.code != 1:
                break
            confirmation = self._run_clean()
        self.report(Confirmed(confirmation.ok, self.folder.repro, confirmation.seconds))
        return confirmation

    def _run_clean(self) -> Confirmation:
        python, seconds = self.settings.python, self._confirm_seconds
        return confirm(self.folder.repro, python=python, seconds=seconds)

    @property
    def _confirm_seconds(self) -> float:
        return max(_CONFIRM_FLOOR, self.limits.seconds)

    def _certify(self) -> None:
        self.report(PhaseBegan("certify", self.reduction.best.operators))
        self.certificate = certificate(self.reduction)

    def _diagnose(self, best: Case) -> None:
        """Say what really broke, and show it with one pass; a repro is worth as much without it."""
        seconds = self.limits.seconds
        try:
            with timed(self.seconds, "diagnose"):
                self.diagnosis = explain_case(
                    best,
                    self.worker,
                    self.store,
                    self.folder.data,
                    seconds,
                    (),
                    self.certificate,
                    self._finding("unconfirmed").failure,
                )
        except ReducerError as error:
            self.notes += (f"not diagnosed: {error.message}",)
            return
        search = PassSearch(self.worker, self.store, self.folder.data, self.limits)
        try:
            with timed(self.seconds, "pass alone"):
                self.pass_level = pass_level(
                    self.diagnosis.explanation, best, search, self.settings.oracle
                )
            if self.pass_level.case is not None:
                self.pass_level = self._pass_shown(self.pass_level)
        except ReducerError as error:
            self.pass_level = PassLevel(reason=error.message)

    def _pass_shown(self, level: PassLevel) -> PassLevel:
        """Write the script that runs one pass, and see whether it fails in a clean process."""
        script = self.artefacts.write_pass(self._finding("unconfirmed"))
        self.clean_pass.start(script)
        with timed(self.seconds, "confirm"):
            confirmation = self.clean_pass.wait(self._confirm_seconds)
        self.report(Confirmed(confirmation.ok, script, confirmation.seconds))
        if confirmation.ok:
            return replace(level, status="confirmed")
        self.artefacts.clear()
        return PassLevel(
            reason=f"the script that runs the pass gives in a clean process: {confirmation.meaning}"
        )

    def _end(self, code: ExitCode, status: str, spelling: Spelling, message: str = "") -> Outcome:
        finding = self._finding(status)
        others = self.artefacts.write_others(self.reduction.slips, finding)
        finding = replace(finding, slips=others)
        self.artefacts.write(finding, spelling)
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
        result = self.worker.run(SpellJob(source, str(self.folder.data)), self.limits).result
        if isinstance(result, Spelled):
            return result
        return Spelled(error=f"{type(result).__name__}")

    def _write_best(self, case: Case) -> None:
        path = self.artefacts.write(self._finding("unconfirmed"), {})
        self.report(Improved(case.operators, path))

    def _finding(self, status: str) -> Finding:
        attempt = self.reduction.attempt
        return Finding(
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
            flaky=self.flaky,
            pass_level=self.pass_level,
        )
