"""What does a running reduction report? Renderers turn these into lines; search never prints."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from reducer.core.signature import Failure, Signature
from reducer.core.stage import Stage
from reducer.core.verdict import Verdict


@dataclass(frozen=True)
class Started:
    """A subject is about to be captured. ``resumed`` results of earlier runs are stored."""

    subject: str
    backend: str | None
    output: Path
    resumed: int


@dataclass(frozen=True)
class Captured:
    """The subject failed: at ``stage``, in a graph of ``operators`` operators. Seconds are wall time.

    ``unit`` is what ``operators`` counts where there is no graph yet.
    """

    form: str
    stage: Stage
    failure: Failure
    signature: Signature
    backend: str
    operators: int
    seconds: float
    notes: tuple[str, ...] = ()
    unit: str = "operator"


@dataclass(frozen=True)
class PhaseBegan:
    """The search entered a phase: isolate, outputs, nodes, attributes, elements, confirm, certify."""

    name: str
    operators: int


@dataclass(frozen=True)
class Judged:
    """One verdict. ``best`` is the number of operators of the smallest case so far.

    ``calls`` counts paid calls of this run; ``stored`` is True when the store answered. ``left`` is an
    estimate of paid calls still to come, or None.
    """

    delta: str
    verdict: Verdict
    operators: int
    best: int
    calls: int
    seconds: float
    stored: bool
    left: int | None = None


@dataclass(frozen=True)
class Improved:
    """A smaller case was found, and its script is on disk (not yet confirmed)."""

    operators: int
    path: Path


@dataclass(frozen=True)
class Confirmed:
    """The emitted script ran in a clean process. ``ok`` is True if the failure of record appeared."""

    ok: bool
    path: Path
    seconds: float


@dataclass(frozen=True)
class Note:
    """A remark for the user."""

    text: str


Event = Started | Captured | PhaseBegan | Judged | Improved | Confirmed | Note
