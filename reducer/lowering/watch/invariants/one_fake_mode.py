"""Do all values of a graph belong to one ``FakeTensorMode``?

Values of two modes cannot meet in one operator: the next pass that traces the graph raises.
"""

from __future__ import annotations

from collections import Counter

from torch.export import ExportedProgram

from reducer.core.diagnosis import Violation
from reducer.lowering.watch.invariants.observation import Skipped, new_among
from reducer.lowering.watch.view import View, fake_values

NAME = "one-fake-mode"
DEAR = False
OF_THE_GRAPH = True

_WHAT = "values belong to more than one FakeTensorMode"


def observe(view: View, program: ExportedProgram | None) -> list[Violation]:
    """One violation for each mode beyond the first, at the first node that has it."""
    counts: Counter[int] = Counter()
    first: dict[int, str] = {}
    for node in view.nodes:
        for value in fake_values(node):
            counts[id(value.fake_mode)] += 1
            first.setdefault(id(value.fake_mode), node.name)
    detail = " + ".join(str(counts[mode]) for mode in first) + " values"
    return [Violation(NAME, _WHAT, name, detail) for name in list(first.values())[1:]]


def alone(seen: list[Violation] | Skipped) -> list[Violation]:
    """What does not hold of one graph by itself."""
    return [] if isinstance(seen, Skipped) else seen


def caused(was: list[Violation] | Skipped, now: list[Violation] | Skipped) -> list[Violation]:
    """Modes beyond those that were there before."""
    return new_among(alone(was), alone(now))
