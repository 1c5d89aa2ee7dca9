"""Which case is this subject, and what does its first lowering do?

The original program is lowered with the user's own objects, not the case: what the case loses on
the way shows when it is judged and does not fail.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from torch.export import ExportedProgram

from reducer.core.diagnosis import Explanation
from reducer.core.python_source import defined_names
from reducer.core.recipe import Recipe
from reducer.core.stage import Stage
from reducer.core.wire import Attempt, Capture, CaptureJob
from reducer.lowering import backends, recorder
from reducer.lowering.construct import build
from reducer.lowering.data import DataStore
from reducer.lowering.declared import Declared
from reducer.lowering.errors import SubjectError, headline
from reducer.lowering.execution import Inputs
from reducer.lowering.exporting import NotExported, export_model
from reducer.lowering.failure import attempt_from_exception
from reducer.lowering.fx.checks import check_of, tidy_checks
from reducer.lowering.fx.from_fx import case_from_program
from reducer.lowering.fx.words import user_words
from reducer.lowering.lowered import lowered
from reducer.lowering.observe import Observer
from reducer.lowering.observed import Lowering, Method, Observation, chain, detach
from reducer.lowering.pipeline import LoweringPlan, StageClock, plan_from_recipe
from reducer.lowering.recipes import express_config, express_partitioner
from reducer.lowering.script import raised, surroundings, user_files, user_modules
from reducer.lowering.source.start import smaller_sources, source_case
from reducer.lowering.source.texts import of_attribute, of_model_file, of_script, script_line
from reducer.lowering.subject import Script, Subject, load
from reducer.lowering.user_modules import keep, operators


def capture(
    job: CaptureJob,
    clock: StageClock | None = None,
    tell: Callable[[Capture], None] = lambda _: None,
) -> Capture:
    """Run what the user handed in, and return it as a case with its first failure.

    ``tell`` is told of each case before it is lowered, since that may end the process. Raises
    SubjectError if the subject cannot be used.
    """
    recorder.install()
    known = frozenset(sys.modules)
    path = Path(job.subject).absolute()  # now: a script may change the folder

    before = operators()

    def described(found: Capture, form: str, place: Path | None) -> Capture:
        if found.case is not None:
            needed = keep(found.case, place, known, before, job.data_dir)
            recipe = replace(
                found.case.recipe, modules=needed.modules, definitions=needed.definitions
            )
            found = replace(found, case=replace(found.case, recipe=recipe))
        modules = [part for name in user_modules(known) for part in name.split(".")]
        words = tuple(dict.fromkeys((*found.words, *modules)))
        return replace(found, form=form, files=user_files(place, known), words=words)

    def early(found: Capture) -> None:
        known_form = capturing.form or "script"
        tell(described(found, known_form, path if path.exists() else None))

    capturing = _Capturing(job, clock or StageClock(), early, known)
    with surroundings():
        observer = Observer(
            capturing.case, capturing.clock, capturing.override, capturing.tell_script
        )
        with observer, capturing.clock.at(Stage.LOAD):
            subject = load(job.subject, job.argv, observer.record)
        capturing.form = subject.form
        found = capturing.result(subject)
        return described(found, subject.form, subject.path)


@dataclass
class _Capturing:
    """One job: the backend it asks for, and the remarks that came up."""

    job: CaptureJob
    clock: StageClock
    tell: Callable[[Capture], None]
    known: frozenset[str] = frozenset()
    form: str = ""
    notes: list[str] = field(default_factory=list)
    chosen: Recipe | None = None
    override: Callable[[], list[Any]] | None = None
    explanation: Explanation | None = None

    def __post_init__(self) -> None:
        self.data = DataStore(self.job.data_dir)
        if self.job.backend is None:
            if self.job.options:
                raise SubjectError(
                    "backend options are given, but no backend",
                    hint="add --backend NAME",
                )
            return
        chosen = self.chosen = backends.lowering(self.job.backend, self.job.options)
        self.override = lambda: [build(item) for item in chosen.partitioners]
        self.override()  # a partitioner that cannot be made is reported before the subject runs

    def case(self, program: ExportedProgram, recipe: Recipe) -> Any:
        """The program as a case (see Observer)."""
        return case_from_program(program, recipe, self.data)

    def tell_script(self, seen: Observation) -> None:
        """Tell what the script is about to lower further, or to run."""
        methods = seen.lowering.methods if seen.lowering is not None else {}
        method = next(iter(methods.values()), None)
        if method is not None and not isinstance(method.case, SubjectError):
            self.tell(self._capture(self._as_run(method, seen), Attempt()))

    def _as_run(self, method: Method, seen: Observation) -> Method:
        """The method, to be run on what the script runs it on, if that is not the example."""
        if isinstance(method.case, SubjectError) or seen.inputs is None:
            return method
        try:
            check = check_of(method.case, method.program, (seen.inputs, {}), self.data)
        except SubjectError as error:
            self.notes.append(f"run on the example inputs instead of the script's: {error.message}")
            return method
        case = replace(method.case, checks=(check,))
        return replace(method, case=replace(case, checks=tidy_checks(case)))

    def result(self, subject: Subject) -> Capture:
        """Lower what was found, unless it has lowered itself."""
        content = subject.content
        if isinstance(content, Script):
            return self._script(content, subject.path)
        if isinstance(content, ExportedProgram):
            return self._program(content)
        failed: NotExported | None = None
        try:
            return self._program(export_model(content, self.clock), content)
        except NotExported as error:
            failed = error  # what is tried next must not be raised "while handling" this
        source = self._source(subject, failed.stage)
        return self._without_graph(failed.error, failed.stage, source, content)

    def _source(self, subject: Subject, stage: Stage) -> str:
        """The source of a model that has no graph, "" if it has none either."""
        if subject.path is None:
            return of_attribute(self.job.subject, stage)
        names = vars(sys.modules["__main__"])
        return of_model_file(subject.path.read_text(encoding="utf-8"), names, stage)

    def _program(self, program: ExportedProgram, declared: Declared | None = None) -> Capture:
        """Lower a program by the backend that was asked for, else as its file declares."""
        config = declared.compile_config if declared is not None else None
        expressed_config = express_config(config, self.notes.append)
        if self.chosen is not None:
            recipe, plan = self.chosen, plan_from_recipe(self.chosen)
            if config is not None:
                recipe = replace(recipe, compile_config=expressed_config)
                plan = replace(plan, compile_config=config, recipe=recipe)
        else:
            partitioners = declared.partitioners if declared is not None else None
            if partitioners is None:
                self.notes.append("no backend given: lowered without a partitioner (portable)")
            plan = LoweringPlan(list(partitioners or ()), config)
            expressed = tuple(
                express_partitioner(item, self.notes.append) for item in plan.partitioners
            )
            recipe = Recipe(backends.name_of(expressed), expressed, expressed_config)
            plan = replace(plan, recipe=recipe)
        more = declared.check_inputs if declared is not None else ()
        method = Method(program, case_from_program(program, recipe, self.data, more), recipe)
        self.tell(self._capture(method, Attempt()))
        return self._capture(method, self._lowered(program, plan, more))

    def _lowered(
        self, program: ExportedProgram, plan: LoweringPlan, more: Sequence[Inputs] = ()
    ) -> Attempt:
        if self.job.watch is not None:
            self.explanation = self._watched(program, plan, self.job.watch)
            if self.explanation.failure is not None:
                return Attempt(self.explanation.failure, seconds=self._seconds)
        job = self.job
        plan = replace(
            plan, last_stage=Stage.COMPARE, rtol=job.rtol, atol=job.atol, asked=job.asked
        )
        attempt = lowered(program, plan, self.clock, job.oracle, more)
        if attempt.unchecked:
            self.notes.append(f"the .pte was not checked: {attempt.unchecked}")
        return replace(attempt, seconds=self._seconds)

    def _watched(
        self, program: ExportedProgram, plan: LoweringPlan, invariants: tuple[str, ...]
    ) -> Explanation:
        from reducer.lowering.watch.explain import explain_lowering
        from reducer.lowering.watch.invariants import chosen
        from reducer.lowering.watch.watch import Watch

        watch = Watch(program, chosen(invariants), self.clock)
        return explain_lowering(program, plan, watch, self.clock)

    def _script(self, script: Script, path: Path | None) -> Capture:
        record = script.record
        chosen = self.chosen
        if chosen is not None and chosen.transform_passes and not chosen.partitioners:
            if record.lowered:
                raise SubjectError(
                    f"backend {chosen.backend} is a list of passes, which cannot take the place of a"
                    " script's partitioners",
                    hint="hand in the model, or a script that only exports",
                )
        call = record.decisive()
        if call is None or not (call.lowering or call.error or call.trouble):
            program = record.exported()
            if program is None:
                raise SubjectError(
                    f"{script.name} lowers nothing itself",
                    hint="hand in the script that makes the .pte, or the model",
                )
            if self.override is None:
                raise SubjectError(
                    f"{script.name} exports a program but does not lower it",
                    hint="choose what to lower it with: --backend NAME",
                )
            return self._program(program)
        if call.trouble is not None:
            raise call.trouble
        if call.error is not None:
            detach(call.error, call.handled)
        self._remark(call, record.ending)
        self._remark_others(call, record.calls)
        if call.lowering is not None and call.lowering.methods:
            return self._observed(call, call.lowering)
        assert call.error is not None
        if call.stage in (Stage.EXPORT, Stage.QUANTIZE):
            text = path.read_text(encoding="utf-8") if path is not None else ""
            source = of_script(text, script_line(call.error), call.stage)
            return self._without_graph(call.error, call.stage, source)
        raise raised(call.error, script.name) from call.error

    def _observed(self, call: Observation, lowering: Lowering) -> Capture:
        """What the decisive call lowered, with what it raised."""
        self.notes += lowering.notes
        job = self.job
        if job.oracle or job.asked or job.watch is not None:  # what the script did was not watched
            method = next(iter(lowering.methods.values()))
            plan = plan_from_recipe(method.recipe)
            return self._capture(method, self._lowered(method.program, plan))
        if call.error is None:
            method = next(iter(lowering.methods.values()))
            if self.chosen and not lowering.delegated:
                return self._program(method.program)
            if method.recipe.last_stage is not Stage.TO_EXECUTORCH:
                return self._capture(method, Attempt(seconds=self._seconds))
            # The script has its .pte; whether that is right, it need not have asked.
            plan = plan_from_recipe(method.recipe)
            return self._capture(method, self._lowered(method.program, plan))
        if len(lowering.methods) > 1:
            return self._failing_method(call.error, lowering)
        (method,) = lowering.methods.values()
        attempt = self._attempt(call.error, method.program, call.stage)
        return self._capture(self._as_run(method, call), attempt)

    def _failing_method(self, error: Exception, lowering: Lowering) -> Capture:
        """Of several methods lowered together, the first that fails alone with that exception."""
        for name, method in lowering.methods.items():
            attempt = self._lowered(method.program, plan_from_recipe(method.recipe))
            failure = attempt.failure
            if failure is not None and failure.chain[0].type.endswith(type(error).__qualname__):
                others = ", ".join(other for other in lowering.methods if other != name)
                self.notes.append(f"method {name!r} fails alone; left out: {others}")
                return self._capture(method, attempt)
        raise SubjectError(
            f"methods {', '.join(lowering.methods)} fail only when lowered together:"
            f" {headline(error)}",
            hint="programs of several methods are reduced one by one",
        )

    def _capture(self, method: Method, attempt: Attempt) -> Capture:
        if isinstance(method.case, SubjectError):
            raise method.case
        job = self.job
        recipe = replace(method.recipe, rtol=job.rtol, atol=job.atol, asked=job.asked)
        if attempt.failure is not None:
            recipe = replace(recipe, last_stage=attempt.failure.stage)
        case = replace(method.case, recipe=recipe)
        notes, words = tuple(dict.fromkeys(self.notes)), user_words(method.program)
        return Capture(case, attempt, notes=notes, words=words, explanation=self.explanation)

    def _without_graph(
        self, error: Exception, stage: Stage, source: str, declared: Declared | None = None
    ) -> Capture:
        """A failure before there is a graph: its case is the source."""
        if stage is Stage.EAGER:
            self.notes.append(
                "eager PyTorch raises it: nothing of export or ExecuTorch was reached"
            )
        attempt, notes = self._attempt(error, None, stage), tuple(self.notes)
        if not source or attempt.failure is None:
            return Capture(None, attempt, notes=notes)
        parts = smaller_sources(source, declared, attempt.failure, self.known)
        case, words = source_case(source, stage), tuple(defined_names(source))
        return Capture(case, replace(attempt, parts=parts), notes=notes, words=words)

    def _attempt(self, error: Exception, program: ExportedProgram | None, stage: Stage) -> Attempt:
        return attempt_from_exception(error, program, stage, self._seconds, self.clock.logged)

    def _remark(self, call: Observation, ending: BaseException | None) -> None:
        """Say when the script went another way than the call that counts."""
        told = any(link is call.error for link in chain(ending))
        if call.error is not None and not told:
            self.notes.append(f"the script goes on after {call.name} raised")
        elif ending is not None and not told and not isinstance(ending, SystemExit):
            self.notes.append(f"the script then ended with {headline(ending)}")

    def _remark_others(self, call: Observation, calls: list[Observation]) -> None:
        """Say that other lowerings of the script raised as well: they are not what is reduced."""
        others = [
            other
            for other in calls
            if other.error is not None
            and other.error is not call.error
            and other.stage not in (Stage.EXPORT, Stage.QUANTIZE)
        ]
        if others:
            first, more = others[0], f" (and {len(others) - 1} more)" if others[1:] else ""
            assert first.error is not None
            self.notes.append(
                f"another call, {first.name}, raises as well and is not what is reduced:"
                f" {headline(first.error)}{more}"
            )

    @property
    def _seconds(self) -> tuple[tuple[str, float], ...]:
        """Per stage; a script's own time, around the calls that were observed, is not counted."""
        return tuple(item for item in self.clock.seconds if item[0] != str(Stage.LOAD))
