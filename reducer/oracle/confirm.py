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

#: The exit code of a script that was not run, as shells say it.
_NO_INTERPRETER = 127

#: How often it is looked whether a script has ended, in seconds.
_TICK = 0.05

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
            _NO_INTERPRETER: "the interpreter ended before it ran",
        }
        return words.get(self.code, f"exit code {self.code}")


def confirm(script: Path, *, python: str = sys.executable, seconds: float = 600.0) -> Confirmation:
    """Run a copy of the script in a clean process and wait for it."""
    with CleanInterpreter(python) as interpreter:
        return interpreter.start(script).wait(seconds)


class Run:
    """One script that a clean interpreter was told to run."""

    def __init__(self, folder: Path, interpreter: subprocess.Popen[bytes]) -> None:
        self._folder = folder
        self._interpreter = interpreter
        self._started = time.monotonic()

    def wait(self, seconds: float = 600.0) -> Confirmation:
        """What the script did; it is killed when it has run for so long."""
        end = self._started + seconds
        while (code := self._code()) is None and time.monotonic() < end:
            time.sleep(_TICK)
        took = time.monotonic() - self._started
        self.kill()
        return Confirmation(code, self._said(), took)

    def kill(self) -> None:
        """End it with all that it started."""
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            os.killpg(int((self._folder / "pid").read_text()), signal.SIGKILL)

    def _code(self) -> int | None:
        try:
            return int((self._folder / "code").read_text())
        except FileNotFoundError:
            return None if self._interpreter.poll() is None else _NO_INTERPRETER

    def _said(self) -> str:
        try:
            return (self._folder / "output").read_bytes()[-_TAIL:].decode("utf-8", "replace")
        except FileNotFoundError:
            return ""


class CleanInterpreter:
    """A fresh interpreter with nothing of ours in it, which forks for each script. A context manager.

    It starts at once and imports the named modules, which the scripts import as well, while the search
    still goes on. A script finds them imported, and nothing else done.
    """

    def __init__(self, python: str = sys.executable, imports: Sequence[str] = ()) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="reduce-confirm-")
        self._runs: list[Run] = []
        self._process = subprocess.Popen(
            [python, "-c", _IMPORT_AND_FORK, *imports],
            cwd=self._folder.name,
            env=_clean_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def __enter__(self) -> CleanInterpreter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self, script: Path) -> Run:
        """Run a copy of the script (with the data files beside it) as a stranger would."""
        folder = Path(self._folder.name) / str(len(self._runs))
        copy = folder / "script" / script.name
        copy.parent.mkdir(parents=True)
        shutil.copy(script, copy)
        for data in script.parent.glob(f"{script.stem}*.safetensors"):
            shutil.copy(data, copy.parent)
        for name in _modules_beside(script):
            beside = script.parent / name
            if beside.is_dir():
                shutil.copytree(beside, copy.parent / name)
            else:
                shutil.copy(beside, copy.parent)
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(f"{copy}\n".encode())
            self._process.stdin.flush()
        self._runs.append(Run(folder, self._process))
        return self._runs[-1]

    def close(self) -> None:
        """End it and its scripts, whatever they do."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for run in self._runs:
            run.kill()
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
        self._folder.cleanup()


#: Run by ``python -c``: what the scripts' own imports would do is done before they are known. Between it
#: and a script stands a process that tells how that ended. A script begins once it can be found.
_IMPORT_AND_FORK = """\
import importlib, os, runpy, signal, sys

def tell(name, value):
    with open("new", "w") as file:
        file.write(str(value))
    os.rename("new", name)

for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except Exception:
        pass  # the script will say what is missing
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for script in sys.stdin:
    script = script.rstrip("\\n")
    home = os.path.dirname(script)
    if os.fork():
        continue
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.chdir(os.path.dirname(home))
    told, begin = os.pipe()
    pid = os.fork()
    if pid:
        os.setpgid(pid, pid)
        tell("pid", pid)
        os.write(begin, b"!")
        tell("code", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        os._exit(0)
    os.close(begin)
    if not os.read(told, 1):
        os._exit(0)
    os.close(told)
    for source, target in (os.devnull, 0), ("output", 1), ("output", 2):
        file = os.open(source, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        os.dup2(file, target)
        os.close(file)
    sys.stdin = open(0, closefd=False)
    os.chdir(home)
    sys.argv, sys.path[0] = [script, "--expect-failure"], home
    runpy.run_path(script, run_name="__main__")
    sys.exit()
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
