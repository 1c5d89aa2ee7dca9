"""What is written of a run's best case, and is it confirmed in a clean process?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from reducer.core.case import Case
from reducer.core.errors import ExitCode, NotReproducible
from reducer.core.events import Confirmed, Improved, PhaseBegan
from reducer.core.finding import Evidence, Finding, PassLevel
from reducer.core.signature import Failure, signature_of
from reducer.core.wire import Limits, Spelled, SpellJob
from reducer.emit.settle import settle, wanted_targets
from reducer.emit.spelling import Spelling
from reducer.oracle.confirm import CleanInterpreter, Confirmation, Run, confirm
from reducer.oracle.judge import Counts
from reducer.workflows.artefacts import Artefacts
from reducer.workflows.evidence import Said, say
from reducer.workflows.ledger import ledger
from reducer.workflows.outcome import Outcome
from reducer.workflows.outward import Outward
from reducer.workflows.search import Search
from reducer.workflows.session import Session
from reducer.workflows.source_strategy import size_before

#: A fresh process imports torch and executorch, and may have to wait for a hang, in seconds.
_CONFIRM_FLOOR = 300.0


class Conclusion:
    """Writes the best case so far while the search goes on, and all there is to say at its end."""

    def __init__(
        self,
        session: Session,
        counts: Counts,
        first: Failure,
        outward: Outward,
        limits: Limits,
        notes: tuple[str, ...],
    ) -> None:
        self.session, self.counts, self.first = session, counts, first
        self.outward, self.limits, self.notes = outward, limits, notes
        self.artefacts = Artefacts(session.folder)
        self.certificate: tuple[Evidence, ...] = ()
        self.said = Said()

    def improved(self, search: Search) -> None:
        """A smaller case was found: it is on disk before the search goes on, whatever comes then."""
        self.session.report(Improved(search.reduction.best.operators, self._save(search)))

    def _save(self, search: Search) -> Path:
        return self.artefacts.write(self._finding(search, "unconfirmed"), {})

    def interrupted(self, search: Search) -> Outcome:
        """The best so far is kept."""
        self._save(search)
        paid = self.counts.paid
        calls = f"{paid} paid call{'' if paid == 1 else 's'}"
        message = f"Ctrl-C or SIGTERM came after {calls}; the best so far is kept"
        return self._end(search, ExitCode.INTERRUPTED, "interrupted", {}, message=message)

    def conclude(self, search: Search, stopped: str) -> Outcome:
        """Write the best case and confirm it; what it means is asked while the script runs.

        ``stopped``: why the search stopped early, or "". Raises NotReproducible.
        """
        self.session.report(PhaseBegan("confirm", search.reduction.best.operators))
        self.artefacts.clear()
        spelling = self._write(search)
        run = self.session.clean.start(self.session.folder.repro)
        self.session.report(PhaseBegan("certify", search.reduction.best.operators))
        self.certificate, cut_short = search.certify()
        self._say(search)
        confirmation = self._confirmed(search, run)
        if not confirmation.ok:
            spelling, confirmation = self._otherwise(search, spelling, confirmation)
        if not confirmation.ok:
            self._end(search, ExitCode.NOT_REPRODUCIBLE, "unconfirmed", spelling)
            raise NotReproducible(
                f"the smallest case fails in the warm worker, but {self.session.folder.repro}, run in"
                f" a clean process, gives: {confirmation.meaning}",
                hint=f"the last it printed: {confirmation.output.strip()[-300:]}",
            )
        traceback = self.outward.scrubber.text(confirmation.traceback)
        self.artefacts.write_test(self._finding(search, "confirmed"), spelling)
        if stopped := stopped or cut_short:
            stopped += "; smaller may be possible"
            return self._end(search, ExitCode.STOPPED, "stopped", spelling, traceback, stopped)
        return self._end(search, ExitCode.REDUCED, "confirmed", spelling, traceback)

    def _write(self, search: Search) -> Spelling:
        """Write the script in the most ordinary words."""
        with self.session.timed("write"):
            told = self._told(search)
            spelling = {} if told.source else settle(told, self._ask).spelling
            self.artefacts.write(self._finding(search, "unconfirmed"), spelling)
        return spelling

    def _otherwise(
        self, search: Search, spelling: Spelling, confirmation: Confirmation
    ) -> tuple[Spelling, Confirmation]:
        """Ordinary words, or names made plain, may hide what the search saw: without these."""
        best = search.reduction.best
        named = self.outward.keeping_names()
        ways = [self.outward] if named.case(best) == self._told(search) else [self.outward, named]
        for outward in ways:
            if outward is named:
                self.outward = named
                self.notes += ("names of the model's own are kept: without them it does not fail",)
                self._say(search)
                spelling = self._write(search)
                confirmation = self._confirmed_anew(search)
            if not confirmation.ok:
                spelling = dict.fromkeys(wanted_targets(best), -1)  # the last way: torch.ops
                self.artefacts.write(self._finding(search, "unconfirmed"), spelling)
                confirmation = self._confirmed_anew(search)
            if confirmation.ok:
                break
        return spelling, confirmation

    def _confirmed_anew(self, search: Search) -> Confirmation:
        with CleanInterpreter(self.session.settings.python) as interpreter:
            return self._confirmed(search, interpreter.start(self.session.folder.repro))

    def _confirmed(self, search: Search, run: Run) -> Confirmation:
        """What the script does; what fails now and then may also pass, and is run again."""
        python, path = self.session.settings.python, self.session.folder.repro
        with self.session.timed("confirm"):
            confirmation = run.wait(self._seconds)
            for _ in range(search.runs - 1):
                if confirmation.code != 1:
                    break
                confirmation = confirm(path, python=python, seconds=self._seconds)
        self.session.report(Confirmed(confirmation.ok, path, confirmation.seconds))
        return confirmation

    def _say(self, search: Search) -> None:
        best = search.reduction.best
        certificate = self.outward.certificate(best, self.certificate)
        failure = self._failure(search)
        wanted = signature_of(self.first)
        told = self._told(search)
        self.said = say(told, failure, wanted, certificate, self.limits, self.session)
        level = self.said.pass_level
        if level is not None and level.case is not None:
            self.said = replace(self.said, pass_level=self._with_pass(search, level))

    def _with_pass(self, search: Search, level: PassLevel) -> PassLevel:
        """Write the script that runs one pass, and see whether it fails in a clean process."""
        script = self.session.folder.pass_repro
        self.artefacts.write_pass(self._finding(search, "unconfirmed"))
        with self.session.timed("confirm"):
            confirmation = self.session.clean.start(script).wait(self._seconds)
        self.session.report(Confirmed(confirmation.ok, script, confirmation.seconds))
        if confirmation.ok:
            return replace(level, status="confirmed")
        self.artefacts.clear()
        return PassLevel(
            reason=f"the script that runs the pass gives in a clean process: {confirmation.meaning}"
        )

    def _end(
        self,
        search: Search,
        code: ExitCode,
        status: str,
        spelling: Spelling,
        traceback: str = "",
        message: str = "",
    ) -> Outcome:
        finding = self._finding(search, status)
        others = self.artefacts.write_others(search.reduction.slips, finding, self.outward)
        finding = replace(finding, slips=others)
        self.artefacts.write(finding, spelling)
        if code is not ExitCode.NOT_REPRODUCIBLE:
            self.artefacts.write_report(finding, spelling, traceback)
        return Outcome(code, finding, self.session.folder, self.session.seconds, message)

    @property
    def _seconds(self) -> float:
        return max(_CONFIRM_FLOOR, self.limits.seconds)

    def _told(self, search: Search) -> Case:
        return self.outward.case(search.reduction.best)

    def _failure(self, search: Search) -> Failure:
        attempt = search.reduction.attempt
        return attempt.failure if attempt and attempt.failure else self.first

    def _ask(self, source: str) -> Spelled:
        job = SpellJob(source, str(self.session.folder.data))
        result = self.session.worker.run(job, self.limits).result
        return result if isinstance(result, Spelled) else Spelled(error=type(result).__name__)

    def _finding(self, search: Search, status: str) -> Finding:
        settings, case = self.session.settings, search.reduction.best
        notes = [*self.notes, *self.outward.warnings(case)]
        if search.flaky:
            notes.append(f"flaky: it fails {search.flaky}")
        if self.said.problem:
            notes.append(self.said.problem)
        found = Finding(
            subject=Path(settings.subject).name,
            case=case,
            signature=signature_of(self.first),
            failure=self._failure(search),
            rule=settings.rule,
            environment=replace(self.session.worker.environment, accelerations=()),
            status=status,
            operators_before=size_before(search.start, search.first),
            certificate=self.certificate,
            ledger=ledger(self.counts, search.reduction, self.session.seconds, self.certificate),
            notes=tuple(notes),
            diagnosis=self.said.diagnosis,
            oracle=settings.oracle,
            flaky=search.flaky,
            pass_level=self.said.pass_level,
            elsewhere=self.said.elsewhere,
            versions=self.said.versions,
        )
        return self.outward.finding(found)
