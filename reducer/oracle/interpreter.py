"""Under which interpreter, with which packages in front of its own, does something run?"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass

#: What decides where modules come from and in which order sets are walked: not what the caller has.
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


@dataclass(frozen=True, order=True)
class Interpreter:
    """A Python with its packages.

    ``overlay`` is a folder whose packages come before the installed ones (see
    :mod:`reducer.oracle.overlay`). ``hash_seed`` is that of its processes: with the same one two of them
    walk a set in the same order; "": as it comes.
    """

    python: str = sys.executable
    overlay: str = ""
    hash_seed: str = ""

    @property
    def worker_variables(self) -> dict[str, str]:
        """The environment of a process that lowers: one thread, and the caller's path."""
        path = [self.overlay, os.environ.get("PYTHONPATH", "")]
        return {
            **os.environ,
            **dict.fromkeys(_THREADS, "1"),
            **self._chosen(),
            "PYTHONPATH": os.pathsep.join(filter(None, path)),
            "PYTHONUNBUFFERED": "1",
        }

    @property
    def script_variables(self) -> dict[str, str]:
        """The environment of a stranger's script: nothing of the caller's Python."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        path = {"PYTHONPATH": self.overlay} if self.overlay else {}
        return {**kept, **path, **self._chosen(), "PYTHONDONTWRITEBYTECODE": "1"}

    def _chosen(self) -> dict[str, str]:
        found = {"PYTHONHASHSEED": self.hash_seed} if self.hash_seed else {}
        if self.overlay:  # its links lead into the installation, where nothing is to be written
            found["PYTHONDONTWRITEBYTECODE"] = "1"
        return found
