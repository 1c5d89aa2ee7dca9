"""How does the parent talk to a warm worker?

Starts it (``lowering/start.py``) under any interpreter, sends jobs, hands back results.
All that the worker and its children print goes to a log file.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from reducer.core import text
from reducer.core.errors import NoEnvironment, WorkerDied
from reducer.core.wire import Environment, Job, Limits, Result
from reducer.oracle.interpreter import Interpreter

#: What an interpreter runs that has no reducer of its own.
_START = Path(__file__).resolve().parents[1] / "lowering" / "start.py"
_PAIR = (
    "install a pair of executorch and torch that fit, and safetensors:"
    " pip install 'executorch-reducer[executorch]'"
)


@dataclass(frozen=True)
class Answer:
    """What a job gave, and the wall seconds that it took in the worker."""

    result: Result
    seconds: float


class Worker:
    """One warm process. Use as a context manager; it starts at once and is waited for when needed.

    ``prefix`` goes in front of its command (see :mod:`reducer.oracle.sandbox`); ``variables`` are the
    environment of its process, by default that of ``python`` as it is installed. Accelerations named in
    ``without`` stay off.
    """

    def __init__(
        self,
        log: Path,
        *,
        python: str = sys.executable,
        preload: Sequence[str] = (),
        accelerate: bool = True,
        without: Sequence[str] = (),
        start_seconds: float = 300.0,
        prefix: Sequence[str] = (),
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self.log = log
        self._python = python
        self._numbers = itertools.count(1)
        self._done: dict[int, Answer] = {}
        self._environment: Environment | None = None
        ours, theirs = socket.socketpair()
        ours.settimeout(start_seconds)
        with theirs, log.open("ab") as output:
            self._process = subprocess.Popen(
                [*prefix, python, str(_START), str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=[theirs.fileno()],
                env=variables or Interpreter(python).worker_variables,
            )
        self._socket = ours
        self._reader = ours.makefile("rb")
        with contextlib.suppress(WorkerDied):  # by now: why, is told when its environment is asked
            setup = {"preload": list(preload), "accelerate": accelerate, "without": list(without)}
            self._send(setup)

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the worker and all that it runs."""
        if self._environment is None:
            self._process.kill()  # still importing: it would see the closed socket seconds later
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._reader.close()
        self._socket.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    @property
    def environment(self) -> Environment:
        """What the worker runs on; waits until it is warm. Raises NoEnvironment."""
        if self._environment is None:
            try:
                message = self._receive()
            except (WorkerDied, TimeoutError) as error:
                raise NoEnvironment(self._start_problem(), hint=_PAIR) from error
            self._environment = text.decode(message["ready"])
            self._socket.settimeout(None)
        return self._environment

    def run(self, job: Job, limits: Limits) -> Answer:
        """Do one job and wait for it."""
        return self.wait(self.submit(job, limits))

    def submit(self, job: Job, limits: Limits) -> int:
        """Start a job; its number is what :meth:`wait` takes."""
        _ = self.environment
        number = next(self._numbers)
        self._send({"id": number, "job": text.encode(job), "limits": text.encode(limits)})
        return number

    def wait(self, number: int) -> Answer:
        """The answer to a job. Raises WorkerDied."""
        while number not in self._done:
            message = self._receive()
            self._done[message["id"]] = Answer(text.decode(message["result"]), message["seconds"])
        return self._done.pop(number)

    def cancel(self, number: int) -> None:
        """Kill a job that is no longer wanted; its answer still comes."""
        self._send({"cancel": number})

    def _send(self, message: dict[str, Any]) -> None:
        try:
            self._socket.sendall(json.dumps(message).encode() + b"\n")
        except OSError as error:
            raise self._died() from error

    def _receive(self) -> dict[str, Any]:
        try:
            line = self._reader.readline()
        except ConnectionError:
            line = b""
        if not line:
            raise self._died()
        return json.loads(line)  # type: ignore[no-any-return]

    def _died(self) -> WorkerDied:
        try:  # the end of its socket comes a moment before that of the process
            code: int | None = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            code = None
        how = f"exit code {code}" if code is None or code >= 0 else signal.Signals(-code).name
        return WorkerDied(f"the worker process ended ({how})", hint=f"its output is in {self.log}")

    def _start_problem(self) -> str:
        tail = (
            self.log.read_text(errors="replace").strip().splitlines()[-1:]
            if self.log.exists()
            else []
        )
        return f"the worker did not start under {self._python}: {' '.join(tail)[:300]}"
