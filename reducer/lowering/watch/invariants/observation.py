"""What is an invariant, to the watcher, and which violations are new?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from torch.export import ExportedProgram

from reducer.core.diagnosis import Violation
from reducer.lowering.watch.view import View


@dataclass(frozen=True)
class Skipped:
    """The invariant could not be asked of a graph, and why."""

    reason: str


#: What an invariant saw of a graph: its own business.
Observation = Any


class Invariant(Protocol):
    """A module of :mod:`reducer.lowering.watch.invariants`."""

    NAME: str
    #: Whether asking means to execute the graph, on real or fake tensors.
    DEAR: bool
    #: Whether an equal graph gives an equal observation, so that it may be remembered.
    OF_THE_GRAPH: bool

    def observe(self, view: View, program: ExportedProgram | None) -> Observation:
        """Look at a graph; ``program`` is the one that was handed in. May raise: then it is Skipped."""

    def alone(self, seen: Observation) -> list[Violation]:
        """What does not hold of one graph by itself."""

    def caused(self, was: Observation, now: Observation) -> list[Violation]:
        """What does not hold now and is not to be seen in what was before."""


def new_among(was: Sequence[Violation], now: Sequence[Violation]) -> list[Violation]:
    """Violations in excess of those of the same kind that were there before.

    By kind and number, not by node: a pass that renames what was wrong already has not broken it.
    Those at nodes which were fine before come first.
    """
    left = Counter(violation.what for violation in was)
    known = {(violation.what, violation.node) for violation in was}
    found = []
    for violation in sorted(now, key=lambda v: (v.what, v.node) not in known):
        if left[violation.what] > 0:
            left[violation.what] -= 1
        else:
            found.append(violation)
    return found
