"""What does a run work with?"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from reducer.core.events import Event
from reducer.core.signature import Signature
from reducer.core.wire import Limits
from reducer.oracle.confirm import CleanInterpreter
from reducer.oracle.judge import Judge
from reducer.oracle.store import Store
from reducer.oracle.worker import Worker
from reducer.search.budget import Budget
from reducer.workflows.output import OutputFolder
from reducer.workflows.settings import ReduceSettings
from reducer.workflows.stopwatch import timed


@dataclass(frozen=True)
class Session:
    """Settings, where events go, folder, verdicts, worker, and interpreter that confirms.

    ``clean`` runs the scripts that are confirmed. ``seconds`` fills with where time went.
    """

    settings: ReduceSettings
    report: Callable[[Event], None]
    folder: OutputFolder
    store: Store
    worker: Worker
    clean: CleanInterpreter
    seconds: dict[str, float] = field(default_factory=dict)

    def judge(self, wanted: Signature, limits: Limits, budget: Budget, *, spare: int = 0) -> Judge:
        """An oracle for one failure; ``spare`` calls may run beside the one that is waited for."""
        return Judge(
            self.worker,
            self.store,
            budget,
            data_dir=self.folder.data,
            wanted=wanted,
            rule=self.settings.rule,
            limits=limits,
            invariant=self.settings.oracle,
            spare=spare,
        )

    def timed(self, name: str) -> AbstractContextManager[None]:
        """Count the block's seconds as the activity's."""
        return timed(self.seconds, name)
