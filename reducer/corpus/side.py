"""What do an entry and a healthy model do on one side of a fix?

Of an entry: whether it still fails (:mod:`reducer.corpus.replay`), which invariants its lowering breaks,
and whether its regression test passes, in a process of its own. Of a healthy model: its ``.pte``, and the
same invariants.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from types import TracebackType

from reducer.core.diagnosis import Explanation
from reducer.core.errors import BadInput, NoEnvironment, ReducerError
from reducer.core.text import register
from reducer.core.wire import (
    Death,
    Difference,
    DifferenceJob,
    ExplainJob,
    Limits,
    Lowered,
    ModelJob,
)
from reducer.corpus.entry import Versions
from reducer.corpus.outcome import Outcome
from reducer.corpus.reading import Kept, Unreadable
from reducer.corpus.replay import Replayer, limits
from reducer.oracle.interpreter import Interpreter

TEST = "test_repro.py"
PASSES, FAILS = "passes", "fails"

#: Bytes that lowering a healthy model may use.
_MEMORY = 8 * 2**30


@dataclass(frozen=True)
class Model:
    """A healthy model and the backend that it is lowered for; ``again``: a second time."""

    model: str
    backend: str
    again: bool = False

    @property
    def name(self) -> str:
        """``backend/model``."""
        return f"{self.backend}/{self.model}{' again' if self.again else ''}"


@dataclass(frozen=True)
class Pair:
    """Two ``.pte`` of one model that are not the same."""

    name: str
    before: bytes
    after: bytes


Task = Kept | Unreadable | Model | Pair


@register
@dataclass(frozen=True)
class OneSide:
    """What one of these did.

    ``outcome`` FIXED means that it lowers. ``broken`` are invariants that passes
    broke, as (invariant, what does not hold, after which pass), sorted; ``cause`` is the one at fault, as
    (invariant, what); ``retraces`` are (pass, whether under the Python dispatcher), sorted. ``test`` is what
    the regression test does, "" if there is none. ``pte`` is what a model lowered to; ``lines`` are those
    of a difference. ``watched``: its lowering was watched.
    """

    outcome: Outcome = Outcome.CANNOT_RUN
    detail: str = ""
    versions: Versions | None = None
    watched: bool = False
    broken: tuple[tuple[str, str, str], ...] = ()
    cause: tuple[str, str] = ("", "")
    retraces: tuple[tuple[str, bool], ...] = ()
    test: str = ""
    pte: bytes = b""
    lines: tuple[str, ...] = ()


class Side(AbstractContextManager["Side"]):
    """Does tasks on one interpreter, one after the other. Use as a context manager."""

    def __init__(
        self, interpreter: Interpreter, seconds: float, preload: Sequence[str] = ()
    ) -> None:
        self._replayer = Replayer(interpreter, seconds, preload)
        self._changed = bool(interpreter.overlay)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._replayer.__exit__(kind, error, trace)

    def __call__(self, task: Task) -> OneSide:
        """Do one.

        Raises NoEnvironment if there is nothing to do it on, BadInput if a change leaves nothing.
        """
        if isinstance(task, Unreadable):
            return OneSide(Outcome.UNREADABLE, task.reason)
        try:
            if isinstance(task, Kept):
                return self._entry(task)
            return self._model(task) if isinstance(task, Model) else self._difference(task)
        except NoEnvironment as error:
            if not self._changed:
                raise
            raise BadInput(
                f"with the fix executorch cannot be imported: {error.message}",
                hint="it can without; see what the patch makes of it",
            ) from error
        except (ReducerError, OSError, ValueError) as error:
            return OneSide(detail=str(error), versions=self._replayer.versions)

    def _entry(self, kept: Kept) -> OneSide:
        replayed = self._replayer(kept)
        seen = OneSide(replayed.outcome, replayed.detail, replayed.versions)
        if replayed.outcome is Outcome.CANNOT_RUN:
            return seen
        with self._replayer.folder() as folder:
            if kept.entry.case.recipe.alone is None and self._replayer.provide(kept, folder):
                job = ExplainJob(kept.entry.case, str(folder / "data"))
                found = self._replayer.ask(job, limits(kept.entry, self._replayer.seconds))
                if isinstance(found, Explanation) and not found.invalid:
                    seen = _watched(seen, found)
            if TEST in kept.files:
                code, _ = self._replayer.run(kept, folder, [TEST])
                seen = replace(seen, test=PASSES if code == 0 else FAILS)
        return seen

    def _model(self, task: Model) -> OneSide:
        versions = self._replayer.versions
        allowed = Limits(self._replayer.seconds, _MEMORY)
        found = self._replayer.ask(ModelJob(task.model, task.backend), allowed)
        if isinstance(found, Lowered) and found.failure is None:
            seen = OneSide(Outcome.FIXED, versions=versions, pte=found.pte)
            return _watched(seen, found.explanation) if found.explanation else seen
        failure = found.failure if isinstance(found, Lowered | Death) else None
        if failure is not None:
            return OneSide(Outcome.FAILS, f"{failure.stage}: {failure.cause}", versions)
        if isinstance(found, Death):
            return OneSide(Outcome.FAILS, f"{found.kind} {found.detail}", versions)
        return OneSide(detail=getattr(found, "message", type(found).__name__), versions=versions)

    def _difference(self, pair: Pair) -> OneSide:
        job = DifferenceJob(pair.before, pair.after)
        found = self._replayer.ask(job, Limits(self._replayer.seconds, _MEMORY))
        lines = found.lines if isinstance(found, Difference) else ()
        return OneSide(Outcome.FIXED, versions=self._replayer.versions, lines=lines)


def _watched(seen: OneSide, found: Explanation) -> OneSide:
    """With what was seen while every pass was watched."""
    broken = {(v.invariant, v.what, run.name) for run in found.runs for v in run.violations}
    retraces = {
        (run.name, run.extraction.dispatcher)
        for run in found.runs
        if run.extraction is not None and run.extraction.dispatcher is not None
    }
    cause = (found.broken.invariant, found.broken.what) if found.broken else ("", "")
    return replace(
        seen,
        watched=True,
        broken=tuple(sorted(broken)),
        cause=cause,
        retraces=tuple(sorted(retraces)),
    )
