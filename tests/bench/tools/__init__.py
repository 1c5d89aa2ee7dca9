"""Which tools are compared? One file each, one line here.

A file has ``run(task)``, which returns the case that the tool ends with (None: that is in the oracle's
log), and, if its search works on any sequence, ``minimize(items, fails)``, the algorithm as a pure function.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

#: Name in the table -> file.
TOOLS = {
    "ours": "ours",
    "ours, structure": "ours_structure",
    "fx_minifier": "fx_minifier",
    "find_culprits": "find_culprits",
    "Shrink Ray": "shrinkray",
    "Picire": "picire_default",
    "Picire skip": "picire_skip",
    "two bisections": "two_bisections",
    "Lithium": "lithium",
    "ddmin": "ddmin",
    "ProbDD": "probdd",
    "CDD": "cdd",
}
#: Those of them that are this project's.
OURS = ("ours", "ours, structure")


def load(name: str) -> ModuleType:
    """The tool's file, with all that it imports: before its time is taken."""
    return import_module(f"{__name__}.{TOOLS[name]}")
