"""From what was captured to the smallest case that fails in the same way, be it now and then."""

from __future__ import annotations

from collections.abc import Callable

from reducer.core.case import Case
from reducer.core.errors import ExitCode, NotReproducible, ReducerError
from reducer.core.events import Note
from reducer.core.finding import Evidence
from reducer.core.wire import Attempt, Limits, RebuildJob
from reducer.oracle.judge import Judge
from reducer.oracle.repeated import AGAIN, TIMES, Rate, Repeated, rate
from reducer.search.budget import BudgetSpent
from reducer.workflows.answers import difference
from reducer.workflows.reduction import Oracle, Reduction
from reducer.workflows.session import Session
from reducer.workflows.strategy import certificate, isolate, minimise

#: How often the result is run again, to be sure that it fails each time.
_CHECKED_AGAIN = 2


class Search:
    """The search of one run. ``flaky`` says how often it fails, "" if always."""

    def __init__(
        self,
        session: Session,
        judge: Judge,
        start: Case,
        first: Attempt,
        limits: Limits,
        improved: Callable[[Case], None],
    ) -> None:
        self.session, self.judge, self.limits = session, judge, limits
        self.start, self.first = start, first
        self._improved = improved
        self._rate = Rate(0, 0)
        self.repeated: Repeated | None = None
        self.flaky = ""
        self.reduction = self._reduction(judge)

    @property
    def runs(self) -> int:
        """How often a script has to be run at most until it fails once."""
        return self.repeated.runs if self.repeated else 1

    def run(self) -> str:
        """Reduce; returns why it stopped early, or "". Raises ReducerError if nothing was found."""
        stopped = self._within_budget("search", self._reduce)
        if not self.reduction.found:
            error = ReducerError(
                f"{stopped} before any case was confirmed to fail",
                hint="allow more and run the same command again: what was paid for is kept",
            )
            error.exit_code = ExitCode.STOPPED
            raise error
        return stopped

    def certify(self) -> tuple[tuple[Evidence, ...], str]:
        """The certificate of the best case, and why it stopped early, or ""."""
        found: list[Evidence] = []
        stopped = self._within_budget("certify", lambda: found.extend(certificate(self.reduction)))
        return tuple(found), stopped

    def _reduce(self) -> None:
        if not self._isolated():
            self._again_as_flaky()
        minimise(self.reduction, self.session.report)
        again = rate(self.judge, self.reduction.best, _CHECKED_AGAIN, AGAIN)
        if self.repeated is None and not again.steady:
            self._again_as_flaky()
            minimise(self.reduction, self.session.report)
        if self.repeated is not None:
            # Run the result again, and say how often it fails beside how often the start did.
            found = rate(self.judge, self.reduction.best, TIMES, AGAIN)
            self.flaky = f"in {found}; the whole program in {self._rate}"

    def _isolated(self) -> bool:
        return isolate(self.reduction, self.start, self.first, self.session.report)

    def _again_as_flaky(self) -> None:
        """The verdicts disagree: learn how often the start fails, and search by majorities.

        Raises NotReproducible if it never does.
        """
        self._rate = rate(self.judge, self.start)
        if not self._rate.failed:
            raise self._not_rebuilt()
        self.session.report(Note(f"flaky: the whole program fails in {self._rate}"))
        self.repeated = Repeated(self.judge, self._rate)
        self.reduction = self._reduction(self.repeated)
        if not self._isolated():
            raise self._not_rebuilt()

    def _reduction(self, oracle: Oracle) -> Reduction:
        return Reduction(oracle, report=self.session.report, improved=self._improved)

    def _within_budget(self, name: str, work: Callable[[], None]) -> str:
        """Do the work; returns why it stopped early, or ""."""
        stopped = ""
        with self.session.timed(name):
            try:
                work()
            except BudgetSpent as spent:
                stopped = spent.reason
            self.judge.forget()
        return stopped

    def _not_rebuilt(self) -> ReducerError:
        judgement = self.judge(self.start)
        job = RebuildJob(self.start, str(self.session.folder.data))
        different = difference(self.start, self.session.worker.run(job, self.limits).result)
        return NotReproducible(
            f"the captured program, rebuilt, does not fail the same way: {judgement.verdict} "
            f"({judgement.detail}); {different}",
            hint="if running the subject again fails only sometimes, it is flaky; settings that it"
            " makes for its whole process (warning filters, default dtype or device, environment"
            " variables) are not part of the case; otherwise please report this model",
        )
