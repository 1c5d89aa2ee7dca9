"""What does a run work with?"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from reducer.core.events import Event
from reducer.oracle.confirm import CleanInterpreter
from reducer.oracle.store import Store
from reducer.oracle.worker import Worker
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

    def timed(self, name: str) -> AbstractContextManager[None]:
        """Count the block's seconds as the activity's."""
        return timed(self.seconds, name)
