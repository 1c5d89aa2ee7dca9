"""How does a finding get into a corpus, and what do its entries do now?"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reducer.core.errors import BadInput
from reducer.corpus import groups
from reducer.corpus.entry import MUST_PASS, entry_of
from reducer.corpus.executor import Executor, Job, LocalProcesses, executed
from reducer.corpus.outcome import Outcome, Replayed
from reducer.corpus.reading import FILE, LARGEST, Kept, Unreadable, read_file
from reducer.corpus.replay import Replayer
from reducer.corpus.results import content, known_first
from reducer.corpus.store import Corpus
from reducer.emit.record import FILE_NAME, read_finding
from reducer.oracle import overlay
from reducer.oracle.interpreter import Interpreter
from reducer.workflows.capturing import preload

Found = Kept | Unreadable
OpenExecutor = Callable[..., Executor[Any, Any]]

#: Where an object was in memory, as a quoted message tells it: different in every run.
_ADDRESS = re.compile(rb"0x[0-9a-f]{6,16}\b")


@dataclass(frozen=True)
class Added:
    """What adding did: the entry, whether nobody had added it before, and those like it."""

    kept: Kept
    new: bool
    near: tuple[Kept, ...]


@dataclass(frozen=True)
class CheckSettings:
    """Settings of ``reduce corpus check`` and ``reduce matrix``.

    ``seconds`` for one lowering; ``at_once``: workers; ``results`` keeps results (see
    :mod:`reducer.corpus.results`).
    """

    python: str = sys.executable
    seconds: float = 120.0
    at_once: int = 1
    record: bool = False
    results: Path | None = None


def add(folder: Path, corpus: Corpus, link: str = "") -> Added:
    """Add the finding in an output folder, with every file of it that belongs to the bug.

    Raises BadInput.
    """
    entry = entry_of(read_finding(folder), link)
    files = dict(_belonging(folder))
    if (size := sum(map(len, files.values()))) > LARGEST:
        raise BadInput(
            f"the files of {folder} are {size / 2**20:.0f} MiB, an entry has at most"
            f" {LARGEST / 2**20:.0f}",
            hint="smaller tensors may show the same",
        )
    kept, new = corpus.add(entry, files)
    return Added(kept, new, tuple(groups.near(entry, corpus.entries())))


def check(
    found: Sequence[Kept | Unreadable],
    corpus: Corpus,
    settings: CheckSettings,
    report: Callable[[Replayed], None],
    *,
    open_executor: OpenExecutor = LocalProcesses,
) -> list[Replayed]:
    """Try all of these again; ``report`` is told each as it comes. Sorted by name.

    With ``settings.record`` entries note the versions with which they were seen to fail or pass.
    """
    by_name = {item.name: item for item in found if isinstance(item, Kept)}
    done = []
    jobs = [Job(item, Interpreter(settings.python)) for item in found]
    for _, replayed in run_jobs(jobs, settings, open_executor=open_executor):
        if settings.record and replayed.name in by_name:
            _record(corpus, by_name[replayed.name], replayed)
        done.append(replayed)
        report(replayed)
    return sorted(done, key=lambda replayed: replayed.name)


def run_jobs(
    jobs: Sequence[Job[Found]],
    settings: CheckSettings,
    *,
    open_executor: OpenExecutor = LocalProcesses,
) -> Iterator[tuple[Job[Found], Replayed]]:
    """Try entries again: the results as they come, those first that ``settings.results`` has.

    Whoever stops listening stops them. Raises NoEnvironment.
    """
    backends = {job.task.entry.backend for job in jobs if isinstance(job.task, Kept)}
    modules = preload(" ".join(sorted(backends)))

    def replayer(interpreter: Interpreter) -> Replayer:
        return Replayer(interpreter, settings.seconds, modules)

    def run(left: Sequence[Job[Found]]) -> Iterator[tuple[Job[Found], Replayed]]:
        return executed(left, open_executor(replayer, settings.at_once))

    pythons = {job.interpreter.python for job in jobs if settings.results is not None}
    known = {python: overlay.versions(python) for python in pythons}

    def key(job: Job[Found]) -> object:
        return job.task.name, known[job.interpreter.python], content(job.task)

    return known_first(jobs, settings.results, key, Replayed, run)


def promote(corpus: Corpus, names: list[str]) -> Iterator[Kept]:
    """Make these entries tests that must pass from now on. Raises BadInput."""
    for kept in corpus.find(names):
        yield corpus.update(kept, replace(kept.entry, status=MUST_PASS))


def _belonging(folder: Path) -> Iterator[tuple[str, bytes]]:
    """What belongs to a finding: the files of its folder, and the packages that its script imports."""
    for path in sorted(folder.iterdir()):
        named = path.suffix and path.name != FILE_NAME and FILE.fullmatch(path.name)
        if named and path.is_file():
            content = read_file(path)
            yield path.name, _ADDRESS.sub(b"0x...", content) if path.suffix == ".md" else content
    for package in sorted(path.parent for path in folder.glob("*/__init__.py")):
        for path in sorted(package.rglob("*.py")):
            yield path.relative_to(folder).as_posix(), read_file(path)


def _record(corpus: Corpus, kept: Kept, replayed: Replayed) -> None:
    if replayed.versions is None or replayed.outcome not in (Outcome.FAILS, Outcome.FIXED):
        return
    fails = replayed.outcome is Outcome.FAILS
    seen = kept.entry.seen(replayed.versions, fails=fails)
    if seen != kept.entry:
        corpus.update(kept, seen)


def minimise(corpus: Corpus) -> list[Kept]:
    """The entries that say nothing that simpler ones do not say as well."""
    entries = corpus.entries()
    kept = {item.name for item in groups.enough(entries)}
    return [item for item in entries if item.name not in kept]
