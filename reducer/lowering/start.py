"""How does a worker start under an interpreter that knows nothing of reducer?

Run as a file, by its path. This package alone is made importable: what is installed beside it belongs to
the parent's interpreter, and would hide what the worker's own has.
"""

from __future__ import annotations

import importlib.util
import os
import runpy
import sys
from pathlib import Path

NAME = "reducer"


def main() -> None:
    """Make the package importable, and be its worker."""
    package = Path(__file__).resolve().parents[1]
    # Not this folder, whose modules belong to the package, but where the user is, as of `python -m`.
    sys.path[0] = os.getcwd()
    spec = importlib.util.spec_from_file_location(
        NAME, package / "__init__.py", submodule_search_locations=[str(package)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = module
    spec.loader.exec_module(module)
    runpy.run_module(f"{NAME}.lowering.worker", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
