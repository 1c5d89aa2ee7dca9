"""What really breaks when a subject is lowered, without reducing it?"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from reducer.core.case import Case
from reducer.core.diagnosis import Diagnosis, Explanation
from reducer.core.errors import ExitCode, NotHandled, ReducerError
from reducer.core.finding import Evidence
from reducer.core.signature import Failure
from reducer.core.wire import Death, Environment, ExplainJob, Limits
from reducer.diagnose import diagnose
from reducer.graph.canonical import case_digest
from reducer.oracle.remembered import remembered
from reducer.oracle.store import Store
from reducer.oracle.worker import Worker
from reducer.workflows.answers import captured_or_raise
from reducer.workflows.capturing import capture, preload_for
from reducer.workflows.output import OutputFolder
from reducer.workflows.precheck import check_subject
from reducer.workflows.settings import ReduceSettings

_TIMEOUT = 3600.0


@dataclass(frozen=True)
class Explained:
    """A subject's diagnosis: of ``case`` as captured, lowered by the worker on ``environment``."""

    case: Case
    diagnosis: Diagnosis
    environment: Environment
    notes: tuple[str, ...] = ()

    @property
    def code(self) -> ExitCode:
        """NO_FAILURE if it lowers and nothing that was watched is broken."""
        found = self.diagnosis.explanation
        sound = found.failure is None and found.culprit is None and not found.input_violations
        return ExitCode.NO_FAILURE if sound else ExitCode.REDUCED


def explain_subject(
    settings: ReduceSettings,
    invariants: Sequence[str] = (),
    *,
    open_worker: Callable[..., AbstractContextManager[Worker]] = Worker,
) -> Explained:
    """Capture a subject and diagnose it; ``invariants`` are those to watch, all if empty.

    Raises ReducerError.
    """
    check_subject(settings.subject)
    with tempfile.TemporaryDirectory(prefix="reduce-explain-") as root:
        folder = OutputFolder(Path(root))
        folder.data.mkdir(parents=True)
        store = Store(folder.store)
        preload = preload_for(settings)
        try:
            with open_worker(folder.log, python=settings.python, preload=preload) as worker:
                result = capture(settings, worker, store, folder, invariants).result
                captured = captured_or_raise(result, settings, folder.log)
                if captured.case is None:
                    assert captured.attempt.failure is not None
                    raise NotHandled(
                        f"{settings.subject} fails before there is a graph, in stage"
                        f" {captured.attempt.failure.stage}: {captured.attempt.failure.headline}",
                        hint="no compiler pass has run by then",
                    )
                assert captured.explanation is not None
                diagnosis = diagnose(captured.explanation, failure=captured.attempt.failure)
                return Explained(captured.case, diagnosis, worker.environment, captured.notes)
        finally:
            store.close()


def explain_case(
    case: Case,
    worker: Worker,
    store: Store,
    data: Path,
    seconds: float,
    invariants: Sequence[str] = (),
    certificate: Sequence[Evidence] = (),
    failure: Failure | None = None,
) -> Diagnosis:
    """Lower a case once, watched, and say what really broke. Raises ReducerError if that cannot be.

    ``failure`` is that of the case, which lowering alone need not show. What the store knows is not
    asked again.
    """
    key = ("explain", f"{case_digest(case)} {' '.join(invariants)}")
    job = ExplainJob(case, str(data), tuple(invariants))
    result = remembered(worker, store, key, job, Limits(seconds), Explanation)
    if not isinstance(result, Explanation):
        died = f"{result.kind} {result.detail}" if isinstance(result, Death) else ""
        raise ReducerError(
            f"the passes could not be watched: {died or type(result).__name__}",
            hint=getattr(result, "message", "") or getattr(result, "traceback", "")[-300:],
        )
    return diagnose(result, certificate, failure)
