"""Does an emitted script fail as it says, in a clean process?

Clean: a fresh interpreter, nothing of reducer on its path, no acceleration, a working folder of its own.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_BEGIN = "Traceback (most recent call last):\n"
#: Frames below the script's, which a stranger's run does not have.
_OURS = re.compile(r'^  File "(?:<string>|<frozen runpy>)", line \d+, in .*\n', re.MULTILINE)

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
        return _OURS.sub("", begin + rest).strip() if begin else ""

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
    """Run a copy of the script in a clean process and wait for it."""
    with CleanProcess(python) as process:
        process.start(script)
        return process.wait(seconds)


class CleanProcess:
    """One fresh interpreter for one script. Use as a context manager.

    It starts at once and imports the named modules, which the script imports as well, while the search
    still goes on; then it waits to be told which script to run.
    """

    def __init__(self, python: str = sys.executable, imports: Sequence[str] = ()) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="reduce-confirm-")
        self._output = Path(self._folder.name) / "output"
        self._started = time.monotonic()
        with self._output.open("wb") as output:
            self._process = subprocess.Popen(
                [python, "-c", _WAIT_AND_RUN, *imports],
                cwd=self._folder.name,
                env=_clean_environment(),
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def __enter__(self) -> CleanProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self, script: Path) -> None:
        """Run a copy of the script (with the data files beside it) as a stranger would."""
        copy = Path(self._folder.name) / "script" / script.name
        copy.parent.mkdir()
        shutil.copy(script, copy)
        for data in script.parent.glob(f"{script.stem}*.safetensors"):
            shutil.copy(data, copy.parent)
        for name in _modules_beside(script):
            beside = script.parent / name
            if beside.is_dir():
                shutil.copytree(beside, copy.parent / name)
            else:
                shutil.copy(beside, copy.parent)
        self._started = time.monotonic()
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError), self._process.stdin as pipe:
            pipe.write(f"{copy}\n".encode())

    def wait(self, seconds: float = 600.0) -> Confirmation:
        """What the script did; it is killed when it has run for so long."""
        code: int | None
        try:
            code = self._process.wait(max(0.0, self._started + seconds - time.monotonic()))
        except subprocess.TimeoutExpired:
            self._kill()
            code = None
        took = time.monotonic() - self._started
        tail = self._output.read_bytes()[-_TAIL:].decode("utf-8", "replace")
        return Confirmation(code, tail, took)

    def close(self) -> None:
        """End it, whatever it does."""
        self._kill()
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
        self._folder.cleanup()

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


#: Run by ``python -c``: what the script's own imports would do is done before it is known.
_WAIT_AND_RUN = """\
import importlib, os, runpy, sys
try:
    for name in sys.argv[1:]:
        importlib.import_module(name)
except Exception as error:  # the script will say what is missing
    print(error)
script = sys.stdin.readline().rstrip("\\n")
if not script:
    sys.exit()
os.chdir(os.path.dirname(script))
sys.argv, sys.path[0] = [script, "--expect-failure"], os.path.dirname(script)
runpy.run_path(script, run_name="__main__")
"""


def _modules_beside(script: Path) -> list[str]:
    """Names of the files and packages beside a script that it may import."""
    found = [path.parent.name for path in script.parent.glob("*/__init__.py")]
    return found + [path.name for path in script.parent.glob("*.py") if path != script]


def _clean_environment() -> dict[str, str]:
    kept = {
        key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "REDUCE"))
    }
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1"}
