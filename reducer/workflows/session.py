"""What does a run work with?"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from reducer.core.events import Event
from reducer.oracle.confirm import CleanProcess
from reducer.oracle.store import Store
from reducer.oracle.worker import Worker
from reducer.workflows.output import OutputFolder
from reducer.workflows.settings import ReduceSettings
from reducer.workflows.stopwatch import timed


@dataclass(frozen=True)
class Session:
    """Settings, where events go, folder, verdicts, worker, and processes that confirm.

    ``clean`` runs the script, ``clean_pass`` that of one pass. ``seconds`` fills with where time went.
    """

    settings: ReduceSettings
    report: Callable[[Event], None]
    folder: OutputFolder
    store: Store
    worker: Worker
    clean: CleanProcess
    clean_pass: CleanProcess
    seconds: dict[str, float] = field(default_factory=dict)

    def timed(self, name: str) -> AbstractContextManager[None]:
        """Count the block's seconds as the activity's."""
        return timed(self.seconds, name)
