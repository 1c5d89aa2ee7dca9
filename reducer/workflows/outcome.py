"""How did a run end?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from reducer.core.errors import ExitCode
from reducer.core.finding import Finding
from reducer.workflows.output import OutputFolder


@dataclass(frozen=True)
class Outcome:
    """Exit code, what was found, where it is; ``message`` if it fell short.

    ``further``: the other failures of the same model, if they were asked for.
    """

    code: ExitCode
    finding: Finding = field(repr=False)  # a whole case
    folder: OutputFolder
    seconds: Mapping[str, float] = field(repr=False)
    message: str = ""
    further: tuple[Outcome, ...] = ()
