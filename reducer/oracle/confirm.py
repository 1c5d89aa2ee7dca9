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
from dataclasses import dataclass
from pathlib import Path

_BEGIN = "Traceback (most recent call last):\n"

#: Characters of output that are kept: a chain of tracebacks with its allocation stacks fits.
_TAIL = 65_536


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
    def traceback(self) -> str:
        """The last thing that it printed, if that is how the lowering failed."""
        _, begin, rest = self.output.partition(_BEGIN)
        return (begin + rest).strip() if begin else ""

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


def confirm(script: Path, *, python: str = sys.executable, seconds: float = 600.0) -> Confirmation:
    """Run a copy of the script (with the data files beside it) as a stranger would."""
    with tempfile.TemporaryDirectory(prefix="reduce-confirm-") as folder:
        copy = Path(folder) / script.name
        shutil.copy(script, copy)
        for data in script.parent.glob(f"{script.stem}*.safetensors"):
            shutil.copy(data, folder)
        start = time.monotonic()
        process = subprocess.Popen(
            [python, copy.name, "--expect-failure"],
            cwd=folder,
            env=_clean_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        code: int | None
        try:
            output, _ = process.communicate(timeout=seconds)
            code = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, code = process.communicate()[0], None
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        tail = output.decode("utf-8", "replace")[-_TAIL:]
        return Confirmation(code, tail, time.monotonic() - start)


def _clean_environment() -> dict[str, str]:
    kept = {
        key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "REDUCE"))
    }
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1"}
