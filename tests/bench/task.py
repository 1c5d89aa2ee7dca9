"""What is every tool given? A captured case, its first failure, and the oracle; all from a warm worker."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from reducer.core.case import GETITEM, Case
from reducer.core.signature import signature_of
from reducer.core.verdict import Verdict
from reducer.core.wire import Attempt
from reducer.graph.region import extract
from reducer.oracle.judge import Judge
from reducer.oracle.store import Store
from reducer.oracle.worker import Worker
from reducer.search.budget import Budget
from reducer.workflows.answers import captured_or_raise, failing_case
from reducer.workflows.capturing import capture, preload_for
from reducer.workflows.limits import judge_limits
from reducer.workflows.output import OutputFolder, open_output
from reducer.workflows.settings import ReduceSettings
from reducer.workflows.strategy import with_last_stage
from tests.bench.oracle import Forgetful, Oracle

#: An algorithm over any sequence: which items are needed for the predicate to hold?
Algorithm = Callable[[Sequence[str], Callable[[Sequence[str]], bool]], Sequence[str]]


@dataclass(frozen=True)
class Spending:
    """What a tool may spend on one case."""

    calls: int
    seconds: float


@dataclass(frozen=True)
class Task:
    """One tool's work on one case. ``folder`` is for whatever it writes."""

    case: Case
    attempt: Attempt
    oracle: Oracle
    data_dir: Path
    folder: Path

    def keeping(self, algorithm: Algorithm) -> Case | None:
        """The case of the calls that an algorithm finds to be needed; a removed one is cut as ours is."""
        names = [node.name for node in self.case.graph.nodes if node.target != GETITEM]
        return self.region(algorithm(names, lambda kept: self.oracle.same(self.region(kept))))

    def region(self, kept: Sequence[str]) -> Case | None:
        """The case of these calls alone; None if there is none."""
        return extract(self.case, kept) if kept else None


@dataclass
class Subject:
    """A failing model, captured, with a warm worker for it."""

    name: str
    settings: ReduceSettings
    case: Case
    attempt: Attempt
    worker: Worker
    folder: OutputFolder

    @contextmanager
    def task(
        self, spending: Spending, *, store: bool, worker: Worker | None = None
    ) -> Iterator[Task]:
        """Work from the start on. ``store``: verdicts are remembered, as the product does.

        ``worker``: another one than that of the subject.
        """
        failure = self.attempt.failure
        assert failure is not None
        runs = self.folder.root / "runs"
        runs.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(dir=runs))
        verdicts = Store(folder / "verdicts.sqlite") if store else Forgetful()
        judge = Judge(
            worker or self.worker,
            verdicts,  # type: ignore[arg-type]
            Budget(time.monotonic, spending.calls, spending.seconds),
            data_dir=self.folder.data,
            wanted=signature_of(failure),
            rule=self.settings.rule,
            limits=judge_limits(self.settings, self.attempt),
        )
        oracle = Oracle(judge, folder / "scripts")
        yield Task(self.case, self.attempt, oracle, self.folder.data, folder)
        if isinstance(verdicts, Store):
            verdicts.close()

    def fails_the_same(self, case: Case) -> bool:
        """Whether a tool's result fails with the signature of the start: asked outside its count."""
        once = Spending(1, float("inf"))
        with self.task(once, store=False) as task:
            return task.oracle(case).verdict is Verdict.SAME


@contextmanager
def subject(path: Path, backend: str, output: Path) -> Iterator[Subject]:
    """Capture a failing model. Raises ReducerError."""
    name = f"{path.stem}-{backend or 'script'}"
    settings = ReduceSettings(str(path), backend or None, output=output / name)
    folder = open_output(settings)
    with warm(settings, folder) as worker:
        yield captured(settings, folder, worker)


def captured(settings: ReduceSettings, folder: OutputFolder, worker: Worker) -> Subject:
    """Run what is to be reduced, once. Raises ReducerError."""
    store = Store(folder.store)
    result = capture(settings, worker, store, folder).result
    store.close()
    found = captured_or_raise(result, settings, folder.log)
    case, _ = failing_case(found, settings)
    start = with_last_stage(case, found.attempt)
    return Subject(Path(settings.subject).stem, settings, start, found.attempt, worker, folder)


@contextmanager
def warm(
    settings: ReduceSettings,
    folder: OutputFolder,
    *,
    accelerate: bool = True,
    without: Sequence[str] = (),
) -> Iterator[Worker]:
    """A worker that has imported all there is to import."""
    log, preload = folder.log, preload_for(settings)
    log.parent.mkdir(parents=True, exist_ok=True)
    with Worker(log, preload=preload, accelerate=accelerate, without=without) as worker:
        _ = worker.environment
        yield worker


def without_regions(attempt: Attempt) -> Attempt:
    """The first failure as if it named neither suspects nor a partition."""
    return replace(attempt, suspects=(), partition=())
