"""Which functions is the compiler in right now?"""

from __future__ import annotations

import sys
from typing import Any

#: Where lowering begins. Below one of these, another one is a program that a pass made for itself.
_ENTRIES = {
    ("executorch.exir.program._program", name)
    for name in ("to_edge", "to_edge_transform_and_lower")
}


def frames() -> list[tuple[str, str]]:
    """(module, function) of the running code, outer first."""
    found = []
    frame: Any = sys._getframe(1)
    while frame is not None:
        found.append((frame.f_globals.get("__name__", ""), frame.f_code.co_name))
        frame = frame.f_back
    return found[::-1]


def is_aside(running: list[tuple[str, str]]) -> bool:
    """Whether a program is being lowered that the compiler itself made, as a pattern to look for."""
    return sum(frame in _ENTRIES for frame in running) > 1
