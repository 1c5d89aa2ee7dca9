"""Does a fix fix what it should, and does it break nothing?

Entries of a corpus, their regression tests and the healthy models are tried on both sides, each one an
independent job; what a model lowers to is compared byte by byte.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from reducer.core.errors import BadInput
from reducer.corpus.compared import Compared
from reducer.corpus.executor import Job, LocalProcesses, executed
from reducer.corpus.outcome import Outcome
from reducer.corpus.reading import Kept, Unreadable
from reducer.corpus.replay import recorded
from reducer.corpus.results import content, known_first
from reducer.corpus.side import Model, OneSide, Pair, Side, Task
from reducer.oracle import overlay
from reducer.oracle.interpreter import Interpreter
from reducer.oracle.overlay import Overlay
from reducer.workflows.capturing import preload
from reducer.workflows.corpus import OpenExecutor

#: The same on both sides: a set is walked in the same order, so the same bytes come out.
_HASH_SEED = "0"


@dataclass(frozen=True)
class VerifySettings:
    """Settings of ``reduce verify``.

    ``base`` is the interpreter without the fix. The fix is one of: ``patch``, a unified diff; ``modules``,
    (name, file); ``python``, an interpreter that has it. ``results`` keeps results (see
    :mod:`reducer.corpus.results`). ``seconds`` for one lowering; ``at_once``: workers.
    """

    base: str = sys.executable
    patch: Path | None = None
    modules: tuple[tuple[str, Path], ...] = ()
    python: str | None = None
    results: Path | None = None
    seconds: float = 120.0
    at_once: int = 1


@dataclass(frozen=True)
class Sides:
    """The two interpreters, the releases that each has, and the overlay, if any.

    ``mark`` tells the side with the fix from others with the same releases.
    """

    before: Interpreter
    after: Interpreter
    versions: dict[Interpreter, str]
    mark: str
    overlay: Overlay | None = None

    def known(self, side: Interpreter) -> str:
        """All that results of a side depend on."""
        return f"{self.versions[side]} {self.mark if side == self.after else ''}"


#: Told of each job as it is done: the task's name, whether with the fix, what was seen.
Report = Callable[[str, bool, OneSide], None]


def sides(settings: VerifySettings, folder: Path) -> Sides:
    """The two sides; an overlay is written to ``folder``. Raises BadInput, NoEnvironment."""
    before = Interpreter(settings.base, hash_seed=_HASH_SEED)
    after = replace(before, python=settings.python or settings.base)
    laid = None
    if settings.patch is not None:
        laid = overlay.from_patch(settings.patch, settings.base, folder)
    elif settings.modules:
        laid = overlay.from_modules(settings.modules, settings.base, folder)
    if laid is not None:
        after = replace(after, overlay=str(laid.folder))
    if after == before:
        raise BadInput(f"{settings.base} is the side without the fix as well")
    versions = {side: overlay.versions(side.python) for side in (before, after)}
    return Sides(before, after, versions, laid.digest if laid else after.python, laid)


def verify(
    found: Sequence[Kept | Unreadable],
    models: Sequence[Model],
    settings: VerifySettings,
    both: Sides,
    report: Report,
    *,
    open_executor: OpenExecutor = LocalProcesses,
) -> list[Compared]:
    """Try all of it on both sides and compare; sorted by name, entries first.

    Raises NoEnvironment if a side has no torch or no executorch.
    """
    tasks: list[Task] = [*found, *models]

    def run(jobs: Sequence[Job[Task]]) -> Iterator[tuple[Job[Task], OneSide]]:
        return executed(jobs, open_executor(_opener(tasks, settings), settings.at_once))

    seen: dict[tuple[str, bool], OneSide] = {}
    # Those of one side after each other: a worker is warm for one of them.
    jobs = [Job(task, side) for side in (both.before, both.after) for task in tasks]
    for job, one in known_first(jobs, settings.results, _key(both), OneSide, run):
        with_fix = job.interpreter == both.after
        seen[job.task.name, with_fix] = one
        report(job.task.name, with_fix, one)
    compared = [_compared(task, seen) for task in tasks]
    return _differences(compared, settings, both, run)


def _compared(task: Task, seen: dict[tuple[str, bool], OneSide]) -> Compared:
    told = recorded(task.entry) if isinstance(task, Kept) else ""
    before, after = seen[task.name, False], seen[task.name, True]
    return Compared(task.name, before, after, isinstance(task, Model), told)


def _differences(
    compared: Sequence[Compared],
    settings: VerifySettings,
    both: Sides,
    run: Callable[[Sequence[Job[Task]]], Iterator[tuple[Job[Task], OneSide]]],
) -> list[Compared]:
    """With what devtools say of two ``.pte``, and whether one side alone gives the same one twice."""
    unequal = {item.name: item for item in compared if _differs(item)}
    jobs: list[Job[Task]] = []
    for item in unequal.values():
        backend, _, model = item.name.partition("/")
        pair = Pair(f"{item.name} differs", item.before.pte, item.after.pte)
        jobs += [Job(pair, both.before), Job(Model(model, backend, again=True), both.before)]
    found = {
        job.task.name: one
        for job, one in known_first(jobs, settings.results, _key(both), OneSide, run)
    }
    return [
        replace(
            item,
            lines=found[f"{item.name} differs"].lines,
            steady=found[f"{item.name} again"].pte == item.before.pte,
        )
        if item.name in unequal
        else item
        for item in compared
    ]


def _differs(item: Compared) -> bool:
    lowered = item.before.outcome is item.after.outcome is Outcome.FIXED
    return item.model and lowered and item.before.pte != item.after.pte


def _opener(
    tasks: Sequence[Task], settings: VerifySettings
) -> Callable[[Interpreter], AbstractContextManager[Callable[[Task], OneSide]]]:
    names = {task.entry.backend for task in tasks if isinstance(task, Kept)}
    names |= {task.backend for task in tasks if isinstance(task, Model)}
    modules = preload(" ".join(sorted(names)))
    return lambda interpreter: Side(interpreter, settings.seconds, modules)


def _key(both: Sides) -> Callable[[Job[Task]], object]:
    """All that a result depends on: the task with its files, the side with its change."""

    def key(job: Job[Task]) -> object:
        return job.task.name, both.known(job.interpreter), _content(job.task)

    return key


def _content(task: Task) -> tuple[str, ...]:
    if isinstance(task, Kept | Unreadable):
        return content(task)
    if isinstance(task, Pair):
        return tuple(hashlib.sha256(pte).hexdigest() for pte in (task.before, task.after))
    return ()
