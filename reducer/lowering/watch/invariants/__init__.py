"""What should hold of a program after every compiler pass?

One file per invariant, in the order of ``reducer.core.diagnosis.INVARIANTS``. Each looks at a graph
(:func:`observe`) and compares two looks (:func:`caused`); dear ones run the graph.
"""

from __future__ import annotations

from collections.abc import Iterable

from reducer.core.diagnosis import INVARIANTS as NAMES
from reducer.lowering.errors import SubjectError
from reducer.lowering.watch.invariants import (
    metadata,
    one_fake_mode,
    same_numbers,
    shared_state,
    well_formed,
)
from reducer.lowering.watch.invariants.observation import Invariant, Observation, Skipped

INVARIANTS: tuple[Invariant, ...] = (
    one_fake_mode,
    metadata,
    well_formed,
    same_numbers,
    shared_state,
)

__all__ = ["CHEAP", "INVARIANTS", "NAMES", "Invariant", "Observation", "Skipped", "chosen"]

#: Those that only look, and execute nothing.
CHEAP = tuple(check for check in INVARIANTS if not check.DEAR)


def chosen(names: Iterable[str]) -> tuple[Invariant, ...]:
    """The invariants with these names, all for none. Raises SubjectError for an unknown one."""
    wanted = set(names)
    if unknown := wanted.difference(NAMES):
        raise SubjectError(
            f"no invariant is called {', '.join(sorted(unknown))}",
            hint=f"one of {', '.join(NAMES)}",
        )
    return tuple(check for check in INVARIANTS if not wanted or check.NAME in wanted)
