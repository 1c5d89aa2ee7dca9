"""An ExecuTorch in which the retrace is mended, as a fresh process sees it; the installed one stays."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable
from pathlib import Path

from reducer.oracle import overlay as overlays
from reducer.oracle.interpreter import Interpreter

RETRACE = "exir/pass_base.py"

#: The retrace opens a mode of its own although its placeholders' values have one.
_OPENS = """\
        if fake_tensor_mode is None:
            fake_tensor_mode = FakeTensorMode(allow_non_fake_inputs=True)
"""
_KEEPS = """\
        if fake_tensor_mode is None:
            known = [n.meta.get("val") for n in graph_module.graph.find_nodes(op="placeholder")]
            modes = [value.fake_mode for value in known if isinstance(value, FakeTensor)]
            fake_tensor_mode = modes[0] if modes else FakeTensorMode()
            fake_tensor_mode.allow_non_fake_inputs = True
"""


def mended(text: str) -> str:
    """The source of the retrace, which keeps the mode of its placeholders."""
    return text.replace(_OPENS, _KEEPS)


def patch(name: str, change: Callable[[str], str]) -> str:
    """A change of a file of the installed package, as a unified diff from a checkout."""
    source = (overlays.installed(sys.executable) / name).read_text()
    changed = change(source)
    assert changed != source
    old, new = source.splitlines(True), changed.splitlines(True)
    return "".join(difflib.unified_diff(old, new, f"a/{name}", f"b/{name}"))


def overlay(folder: Path, name: str, change: Callable[[str], str]) -> dict[str, str]:
    """The environment of a process that imports a changed copy of a file, written to ``folder``."""
    diff = folder / "fix.patch"
    diff.write_text(patch(name, change))
    found = overlays.from_patch(diff, sys.executable, folder / "overlay")
    return Interpreter(overlay=str(found.folder)).script_variables
