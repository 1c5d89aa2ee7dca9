"""Does an emitted script fail as it says, in a clean process?

Clean: a fresh interpreter, nothing of reducer on its path, no acceleration, an empty working folder.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

#: How much of what a script prints is kept, in bytes.
_TAIL = 16_384


@dataclass(frozen=True)
class Confirmation:
    """What ``script --expect-failure`` did: exit code (None: killed at the time limit), output, seconds."""

    code: int | None
    output: str
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether the failure of record appeared."""
        return self.code == 0

    @property
    def meaning(self) -> str:
        """The exit code in words."""
        words = {
            0: "the failure of record",
            1: "it passes",
            2: "something else",
            None: "time limit",
        }
        return words.get(self.code, f"exit code {self.code}")


class Trial:
    """A copy of a script (with the data files beside it) that runs as a stranger would run it.

    Use as a context manager: it runs from there on, while the caller does something else, and is ended
    at the latest when the block is left.
    """

    def __init__(self, script: Path, *, python: str = sys.executable) -> None:
        self.script = script
        self.python = python

    def __enter__(self) -> Trial:
        self._folder = tempfile.TemporaryDirectory(prefix="reduce-confirm-")
        copy = Path(self._folder.name) / self.script.name
        shutil.copy(self.script, copy)
        for data in self.script.parent.glob(f"{self.script.stem}*.safetensors"):
            shutil.copy(data, self._folder.name)
        self._output = tempfile.TemporaryFile()
        self._start = time.monotonic()
        self._process = subprocess.Popen(
            [self.python, copy.name, "--expect-failure"],
            cwd=self._folder.name,
            env=_clean_environment(),
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._end()
        self._output.close()
        self._folder.cleanup()

    def result(self, seconds: float) -> Confirmation:
        """What it did; after this many seconds since it began it is ended."""
        left = seconds - (time.monotonic() - self._start)
        code: int | None
        try:
            code = self._process.wait(timeout=max(left, 0.0))
        except subprocess.TimeoutExpired:
            code = None
            self._end()
        spent = time.monotonic() - self._start
        self._output.seek(max(self._output.seek(0, os.SEEK_END) - _TAIL, 0))
        return Confirmation(code, self._output.read().decode("utf-8", "replace"), spent)

    def _end(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


def _clean_environment() -> dict[str, str]:
    kept = {
        key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "REDUCE"))
    }
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1"}
