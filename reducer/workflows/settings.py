"""What did the user ask for? One frozen object per workflow."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

from reducer.core.property import Property
from reducer.core.recipe import Plain
from reducer.core.signature import MatchRule


def cores() -> int:
    """How many processes can really run at a time."""
    known = getattr(os, "sched_getaffinity", None)  # not everywhere
    return len(known(0)) if known else os.cpu_count() or 1


@dataclass(frozen=True)
class ReduceSettings:
    """Settings of ``reduce SUBJECT``.

    ``subject`` is a path or ``package.module:attribute``; ``backend`` None means as the subject says.
    ``output`` None: ``reduced/<name>/``. Seconds are wall time; ``timeout`` None: learned from the
    first run. ``argv`` is passed to a subject that is a script. ``oracle`` "": it fails if lowering
    raises; else the name of an invariant, and it fails if a compiler pass breaks that. ``rtol``, ``atol``
    and ``asked`` as in :class:`~reducer.core.recipe.Recipe`. ``keep_names``: what is written
    may name the user's modules, attributes and files. ``jobs`` lowerings run at a time. ``every``: go on
    after the first failure, until the model lowers.
    """

    subject: str
    backend: str | None = None
    options: tuple[tuple[str, Plain], ...] = ()
    output: Path | None = None
    rule: MatchRule = field(default_factory=MatchRule)
    timeout: float | None = None
    max_calls: int | None = None
    budget: float | None = None
    argv: tuple[str, ...] = ()
    python: str = sys.executable
    oracle: str = ""
    rtol: float | None = None
    atol: float | None = None
    asked: Property | None = None
    keep_names: bool = False
    every: bool = False
    jobs: int = field(default_factory=lambda: min(2, cores()))
