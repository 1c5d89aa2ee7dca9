"""Return fewer values, and do without writes and assertions that no returned value needs."""

from __future__ import annotations

from collections.abc import Sequence

from reducer.core.case import Case
from reducer.core.delta import Edit
from reducer.graph.prune import prune, with_outputs
from reducer.graph.topology import topology

NAME = "drop-outputs"
TOGETHER = True


def edits(case: Case) -> list[Edit]:
    """One edit per output (if there are several) and one per effect."""
    outputs = case.graph.outputs
    effects = topology(case).effects
    found = [
        Edit(NAME, f"output {position}", (position,), f"do not return output {position}")
        for position in range(len(outputs))
        if len(outputs) > 1
    ]
    return found + [Edit(NAME, f"effect {name}", (name,), f"without {name}") for name in effects]


def apply(case: Case, edits: Sequence[Edit]) -> Case | None:
    """Drop them; None if nothing would be returned."""
    dropped = {edit.payload[0] for edit in edits if isinstance(edit.payload[0], int)}
    effects = [str(edit.payload[0]) for edit in edits if isinstance(edit.payload[0], str)]
    kept = [position for position in range(len(case.graph.outputs)) if position not in dropped]
    if not kept:
        return None
    return prune(with_outputs(case, kept), drop_effects=effects)
