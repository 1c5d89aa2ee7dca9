"""What is remembered within a warm worker although the libraries compute it anew each time?

One file per acceleration; each says what it assumes, and refuses (returns a reason) if the function
that it replaces does not look as expected. Never active in the process that confirms a repro.
"""

from __future__ import annotations

from collections.abc import Collection

from reducer.lowering.accelerations import (
    composite_ops,
    first_lowering,
    fusion_patterns,
    kernel_registration,
    node_provenance,
)

#: In the order in which they are switched on: the last one lowers with the others on.
ACCELERATIONS = (
    kernel_registration,
    node_provenance,
    fusion_patterns,
    composite_ops,
    first_lowering,
)


def switch_on(without: Collection[str] = ()) -> tuple[tuple[str, str], ...]:
    """Switch all on but those named. Returns (name, "on" or why it stayed off)."""
    return tuple(
        (module.NAME, "left out" if module.NAME in without else module.switch_on() or "on")
        for module in ACCELERATIONS
    )
