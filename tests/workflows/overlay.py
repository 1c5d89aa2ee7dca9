"""An ExecuTorch of which one module is exchanged, as a fresh process sees it; the installed one stays."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from pathlib import Path

_SITE = """
import importlib.util
import sys

class Overlay:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == {module!r}:
            return importlib.util.spec_from_file_location(name, {file!r})

sys.meta_path.insert(0, Overlay)
"""


def overlay(folder: Path, module: str, change: Callable[[str], str]) -> dict[str, str]:
    """The environment of a process that imports a changed copy of ``module``, written to ``folder``.

    ``change`` is given the module's source.
    """
    package, *inner = module.split(".")
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.submodule_search_locations
    (root,) = spec.submodule_search_locations
    source = Path(root, *inner).with_suffix(".py").read_text()
    changed = change(source)
    assert changed != source
    file = folder / f"{inner[-1]}_changed.py"
    file.write_text(changed)
    (folder / "sitecustomize.py").write_text(_SITE.format(module=module, file=str(file)))
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return {**kept, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
