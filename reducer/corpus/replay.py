"""Does an entry still fail the same way?

Its case is judged in a warm worker. If that says anything but "still fails", its script is asked as
well, in a clean process: only what both say counts, and where they disagree it is flaky. A case that
cannot be judged (it needs modules of its own, or was written under other rules) is left to its script.
All of it runs in a sandbox.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType

from reducer.core.errors import NoEnvironment, ReducerError
from reducer.core.files import modules_folder
from reducer.core.signature import Failure, MatchRule, Signature
from reducer.core.wire import Attempt, Death, Job, JudgeJob, Limits, Result
from reducer.corpus import script, tensors
from reducer.corpus.entry import Entry, Versions, versions_of
from reducer.corpus.outcome import Outcome, Replayed
from reducer.corpus.reading import SCRIPT, Kept, Unreadable, read_file
from reducer.oracle import sandbox
from reducer.oracle.interpreter import Interpreter
from reducer.oracle.worker import Worker

#: Bytes that one lowering of a minimal case may use; and one that is known to eat all it can get.
_MEMORY, _EATEN = 8 * 2**30, 2 * 2**30
#: Seconds that one may take that is known to hang.
_HANG = 60.0
#: Runs in which one may fail that is known to fail now and then.
_CHANCES = 20
#: A script imports torch first, on a busy machine.
_IMPORTS = 120.0
_MISSING = ("ImportError", "ModuleNotFoundError")


@dataclass(frozen=True)
class Seen:
    """What one way of trying said. ``outcome`` None: nothing, and ``detail`` says why."""

    outcome: Outcome | None
    detail: str = ""


class Replayer:
    """Tries entries on one interpreter, one after the other. Use as a context manager."""

    def __init__(
        self, interpreter: Interpreter, seconds: float, preload: Sequence[str] = ()
    ) -> None:
        python = os.path.abspath(shutil.which(interpreter.python) or interpreter.python)
        self.interpreter = replace(interpreter, python=python)
        self.seconds = seconds
        self._preload = preload
        self._root = tempfile.TemporaryDirectory(
            prefix="reduce-corpus-", ignore_cleanup_errors=True
        )
        self.scratch = Path(self._root.name).resolve()
        self._worker: Worker | None = None

    def __enter__(self) -> Replayer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end_worker()
        self._root.cleanup()

    def __call__(self, found: Kept | Unreadable) -> Replayed:
        """Try an entry. Raises NoEnvironment if there is nothing to try it on."""
        if isinstance(found, Unreadable):
            return Replayed(found.name, "", "", Outcome.UNREADABLE, found.reason)
        versions = self.versions
        started = time.monotonic()
        with self.folder() as folder:
            try:
                seen = self._seen(found, folder)
            except (ReducerError, OSError) as error:
                seen = Seen(None, str(error))
        return replace(shown(found, seen, versions), seconds=round(time.monotonic() - started, 3))

    @property
    def versions(self) -> Versions:
        """What it tries entries on. Raises NoEnvironment."""
        return versions_of(self._warm().environment)

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """A folder within the sandbox, for as long as it is needed."""
        folder = Path(tempfile.mkdtemp(dir=self.scratch))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def provide(self, kept: Kept, folder: Path) -> bool:
        """Write what an entry's case needs into ``folder/data``; whether it can be judged with that."""
        if not kept.entry.comparable or not tensors.provide(kept, folder / "data"):
            return False
        modules = [name for name in kept.files if _is_module(name)]
        _put(kept, modules, modules_folder(folder / "data"))
        return True

    def ask(self, job: Job, allowed: Limits) -> Result:
        """What the warm worker makes of a job; a new worker takes the next one if this one dies.

        Raises ReducerError.
        """
        try:
            return self._warm().run(job, allowed).result
        except NoEnvironment:
            raise
        except (ReducerError, OSError, ValueError):  # the case may have killed the worker
            self._end_worker()
            raise

    def run(self, kept: Kept, folder: Path, command: Sequence[str]) -> tuple[int | None, str]:
        """Run ``python *command`` beside copies of an entry's files: see :func:`script.run`."""
        place = Path(tempfile.mkdtemp(dir=folder))
        _put(kept, kept.files, place)
        return script.run(place, command, self.interpreter, self.seconds + _IMPORTS)

    def _seen(self, kept: Kept, folder: Path) -> Seen:
        judged = self._judged(kept, folder)
        if judged.outcome is Outcome.FAILS:
            return judged
        said = self._said(kept, folder)
        if judged.outcome is None:
            unusable = said.outcome is Outcome.DIFFERENT and judged.detail
            return Seen(None, judged.detail) if unusable else said
        if said.outcome is judged.outcome:
            return judged
        return Seen(
            Outcome.FLAKY,
            f"judged in a warm worker it {_does(judged)}; its script, in a clean process, {_does(said)}",
        )

    def _judged(self, kept: Kept, folder: Path) -> Seen:
        """What the warm worker makes of the case."""
        entry = kept.entry
        if not self.provide(kept, folder):
            return Seen(None)
        job = JudgeJob(entry.case, str(folder / "data"), entry.oracle)
        try:
            for _ in range(_CHANCES if entry.flaky else 1):
                seen = judged(self.ask(job, limits(entry, self.seconds)), entry.signature)
                if seen.outcome is Outcome.FAILS:
                    break
        except NoEnvironment:
            raise
        except (ReducerError, OSError, ValueError) as error:
            return Seen(None, str(error))
        return seen

    def _said(self, kept: Kept, folder: Path) -> Seen:
        """What the script says."""
        code, last = self.run(kept, folder, [SCRIPT, "--expect-failure"])
        if code == 2 and last.startswith(_MISSING):
            return Seen(None, last)
        if code is None:
            return Seen(Outcome.DIFFERENT, f"time limit of {self.seconds + _IMPORTS:g} s")
        outcomes = {0: Seen(Outcome.FAILS), 1: Seen(Outcome.FIXED)}
        return outcomes.get(code, Seen(Outcome.DIFFERENT, last))

    def _warm(self) -> Worker:
        if self._worker is None:
            self._worker = Worker(
                self.scratch / "worker.log",
                python=self.interpreter.python,
                preload=self._preload,
                prefix=sandbox.wrap(self.scratch),
                variables=self.interpreter.worker_variables,
            )
        return self._worker

    def _end_worker(self) -> None:
        if self._worker is not None:
            self._worker.close()
            self._worker = None


def limits(entry: Entry, seconds: float) -> Limits:
    """What trying an entry may use: little where it uses up all that it is given."""
    kind = entry.signature.types[-1] if entry.signature.types else ""
    return Limits(
        min(seconds, _HANG) if kind == "Hang" else seconds,
        _EATEN if kind == "OutOfMemory" else _MEMORY,
    )


def judged(result: Result, wanted: Signature) -> Seen:
    """What a worker's answer says about an entry with this signature."""
    if isinstance(result, Attempt):
        if result.invalid:
            return Seen(None, result.invalid)
        if result.failure is None:
            return Seen(Outcome.FIXED)
        return _compared(result.failure, wanted)
    if isinstance(result, Death) and result.failure is not None:
        return _compared(result.failure, wanted)
    if isinstance(result, Death):
        where = f" in {result.stage}" if result.stage else ""
        return Seen(Outcome.DIFFERENT, f"{result.kind} {result.detail}{where}")
    return Seen(None, getattr(result, "message", "") or type(result).__name__)


def _compared(failure: Failure, wanted: Signature) -> Seen:
    if MatchRule().same(wanted, failure):
        return Seen(Outcome.FAILS)
    return Seen(Outcome.DIFFERENT, f"in {failure.stage}: {failure.cause}")


def shown(kept: Kept, seen: Seen, versions: Versions | None = None) -> Replayed:
    """What was seen, beside what the entry says."""
    entry = kept.entry
    outcome = seen.outcome or Outcome.CANNOT_RUN
    return Replayed(kept.name, entry.status, recorded(entry), outcome, seen.detail, 0.0, versions)


def recorded(entry: Entry) -> str:
    """What an entry fails with, in a line."""
    signature = entry.signature
    name = signature.types[-1].rpartition(".")[2] if signature.types else ""
    return f"{signature.stage}: {name}: {signature.message}"[:160]


def _put(kept: Kept, names: Sequence[str], folder: Path) -> None:
    """Copies of these files of an entry."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(read_file(kept.folder / name))


def _is_module(name: str) -> bool:
    """Whether it is one of the user's modules that the case may import: no script, no test."""
    return name.endswith(".py") and not name.startswith(("repro", "test_"))


def _does(seen: Seen) -> str:
    words = {Outcome.FAILS: "fails as recorded", Outcome.FIXED: "passes"}
    told = words.get(seen.outcome, "fails differently") if seen.outcome else "cannot run"
    return f"{told} ({seen.detail})" if seen.detail else told
