"""Who runs the jobs? One warm process that forks a child for each.

``python start.py FD`` imports what it is told to, then reads jobs from the socket
``FD`` and answers on it, one JSON object per line. A child that crashes, hangs or eats memory is one
job's result (:class:`Death`), never the end of the worker. When the parent goes away, so does all
below it.

Messages to the worker: ``{"preload": [module...], "accelerate": bool, "without": [name...]}`` once, then
``{"id": n, "job": ..., "limits": ...}``, ``{"cancel": n}``. From it: ``{"ready": Environment}``,
``{"id": n, "result": ..., "seconds": s}``.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import random
import selectors
import signal
import socket
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass, field
from typing import IO, Any

from reducer.core import text
from reducer.core.wire import Broken, Death, Limits
from reducer.lowering.death import death, stands_still
from reducer.lowering.line import ASK, STACK, Line, interval, write

#: How much of a child's output is kept for a report, and how much goes to the log at most, in bytes.
_TAIL = 16_384
_LOG_LIMIT = 1 << 20
#: How long a silent child gets to say where it stands, in seconds.
_ANSWERED = 0.1
#: How often memory and time are looked at, in seconds.
_TICK = 0.05


@dataclass
class Child:
    """One forked job: its process, its two pipes, and what came out of them.

    ``log`` is the file to which it sends what the runtime says: unlike a pipe it can read that, and
    unlike memory it outlives it. ``shared`` are the bytes that it got from the worker with the fork,
    which are not its own.
    """

    pid: int
    limits: Limits
    result_fd: int
    output_fd: int
    log: IO[bytes]
    started: float
    shared: int
    result: bytearray = field(default_factory=bytearray)
    output: bytearray = field(default_factory=bytearray)
    logged: int = 0
    killed: str = ""
    lasted: float = 0.0
    heard: float = 0.0
    stacks: int = 0


def main() -> None:
    """Serve jobs until the socket closes."""
    connection = socket.socket(fileno=int(sys.argv[1]))
    reader = connection.makefile("rb")
    setup = json.loads(reader.readline() or "{}")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the group; the parent decides
    _end_with_parent()
    from reducer.lowering.warm import warm_up

    environment = warm_up(
        setup.get("preload", []),
        accelerate=setup.get("accelerate", True),
        without=setup.get("without", []),
    )
    gc.collect()
    gc.freeze()  # children share the parent's pages as long as nothing writes to them
    _send(connection, {"ready": text.encode(environment)})
    Worker(connection).serve()


class Worker:
    """The loop that forks, watches and answers."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.children: dict[int, Child] = {}
        self.selector = selectors.DefaultSelector()
        self.pending = b""
        wake_read, wake_write = os.pipe()
        os.set_blocking(wake_write, False)
        os.set_blocking(wake_read, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_write)
        self.selector.register(connection, selectors.EVENT_READ, ("jobs", 0))
        self.selector.register(wake_read, selectors.EVENT_READ, ("wake", 0))

    def serve(self) -> None:
        """Run until the parent closes its end."""
        try:
            while self._turn():
                pass
        finally:
            for child in self.children.values():
                _kill(child.pid)

    def _turn(self) -> bool:
        timeout = _TICK if self.children else None
        for key, _ in self.selector.select(timeout):
            kind, number = key.data
            if kind == "jobs":
                data = self.connection.recv(1 << 20)
                if not data:
                    return False
                self._receive(data)
            elif kind == "wake":
                os.read(key.fd, 4096)
            elif number in self.children:
                self._drain(number, kind)
        self._watch()
        return True

    def _receive(self, data: bytes) -> None:
        *lines, self.pending = (self.pending + data).split(b"\n")
        for line in lines:
            message = json.loads(line)
            if "cancel" in message:
                child = self.children.get(message["cancel"])
                if child is not None:
                    child.killed = "cancelled"
                    _kill(child.pid)
            else:
                self._start(message)

    def _start(self, message: dict[str, Any]) -> None:
        result_read, result_write = os.pipe()
        output_read, output_write = os.pipe()
        log = tempfile.TemporaryFile()  # noqa: SIM115  closed when the child has ended
        pid = os.fork()
        if pid == 0:
            try:
                signal.set_wakeup_fd(-1)
                self.connection.close()
                os.close(result_read)
                os.close(output_read)
                _run_child(message, Line(result_write, log.fileno()), output_write)
            finally:
                os._exit(70)  # not reached: _run_child always exits
        os.close(result_write)
        os.close(output_write)
        number = message["id"]
        for fd in (result_read, output_read):
            os.set_blocking(fd, False)
        self.selector.register(result_read, selectors.EVENT_READ, ("result", number))
        self.selector.register(output_read, selectors.EVENT_READ, ("output", number))
        limits = text.decode(message["limits"])
        self.children[number] = Child(
            pid, limits, result_read, output_read, log, time.monotonic(), _resident(os.getpid())
        )

    def _drain(self, number: int, kind: str) -> None:
        child = self.children[number]
        fd = child.result_fd if kind == "result" else child.output_fd
        while fd >= 0:
            try:
                data = os.read(fd, 1 << 20)
            except BlockingIOError:
                return
            if not data:
                self.selector.unregister(fd)
                os.close(fd)
                if kind == "result":
                    child.result_fd = -1
                else:
                    child.output_fd = -1
                return
            if kind == "result":
                child.result += data
            else:
                self._keep_output(child, data)

    def _keep_output(self, child: Child, data: bytes) -> None:
        child.output += data
        del child.output[:-_TAIL]
        room = _LOG_LIMIT - child.logged
        if room > 0:
            os.write(2, data[:room])
            child.logged += len(data)

    def _watch(self) -> None:
        now = time.monotonic()
        for number, child in list(self.children.items()):
            done, status = os.waitpid(child.pid, os.WNOHANG)
            if done:
                self._finish(number, status, now)
            elif not child.killed and (
                now - child.started > child.limits.seconds or self._stands_still(child, now)
            ):
                child.killed, child.lasted = "timeout", now - child.started
                if now - max(child.heard, child.started) > 2 * interval(child.limits):
                    os.kill(child.pid, ASK)
                    time.sleep(_ANSWERED)
                _kill(child.pid)
            elif not child.killed and 0 < child.limits.memory < _resident(child.pid) - child.shared:
                child.killed = "memory"
                _kill(child.pid)

    def _stands_still(self, child: Child, now: float) -> bool:
        """Whether its stack is the same for as long as is allowed, or it is silent for so long."""
        stacks = child.result.count(STACK.encode())
        if stacks == child.stacks:
            silent = now - max(child.heard, child.started)
            return bool(child.limits.still) and silent > child.limits.still
        child.stacks, child.heard = stacks, now
        return bool(child.limits.still) and stands_still(
            bytes(child.result).decode("utf-8", "replace")
        )

    def _finish(self, number: int, status: int, now: float) -> None:
        child = self.children[number]
        for kind in ("result", "output"):
            self._drain(number, kind)
        for fd in (child.result_fd, child.output_fd):
            if fd >= 0:  # a grandchild still holds the other end
                self.selector.unregister(fd)
                os.close(fd)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)  # what the job left running in its process group
        del self.children[number]
        progress, _, answer = bytes(child.result).rpartition(b"\n")
        result = None
        if status == 0 and not child.killed:  # else it may have been in the middle of its answer
            with contextlib.suppress(ValueError):
                result = json.loads(answer)
        if result is None:
            result = text.encode(_death(child, status, progress + b"\n" + answer))
        elif child.logged >= _LOG_LIMIT and result.get("_") == Broken.__name__:
            os.write(2, result["traceback"].encode())  # there was no room for it in the log
        child.log.close()
        _send(self.connection, {"id": number, "result": result, "seconds": now - child.started})


def _run_child(message: dict[str, Any], line: Line, output_fd: int) -> None:
    """In the child: do the job, write the answer as one line, leave without any cleaning up."""
    os.setpgid(0, 0)
    _end_with_parent()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    random.seed()  # as fresh as in a process of its own: what fails by chance must be able to
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(output_fd, 1)
    os.dup2(output_fd, 2)
    answer: Any
    try:
        from reducer.lowering.jobs import run_job

        line.watch(text.decode(message["limits"]))
        answer = run_job(text.decode(message["job"]), line)
    except BaseException:
        answer = Broken(traceback.format_exc())
        write(output_fd, answer.traceback.encode())  # whatever the job made of sys.stderr
    line.answer(answer)
    os._exit(0)


def _death(child: Child, status: int, progress: bytes) -> Death:
    kind, detail = child.killed, ""
    if kind == "timeout":
        detail = f"{min(child.limits.seconds, round(child.lasted)):g} s"
    elif kind == "memory":
        detail = f"{child.limits.memory / 2**20:.0f} MiB"
    elif not kind and os.WIFSIGNALED(status):
        kind, detail = "signal", signal.Signals(os.WTERMSIG(status)).name
    elif not kind:
        kind, detail = "exit", str(os.WEXITSTATUS(status))
    said, output = (bytes(part).decode("utf-8", "replace") for part in (progress, child.output))
    child.log.seek(0)
    log = child.log.read(_TAIL).decode("utf-8", "replace")
    return death(kind, detail, said, output, log)


def _resident(pid: int) -> int:
    """Resident memory in bytes without mapped files; 0 if the process is gone."""
    try:
        with open(f"/proc/{pid}/statm") as statm:
            _, resident, shared = statm.read().split()[:3]
        return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0


def _kill(pid: int) -> None:
    for end in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            end(pid, signal.SIGKILL)


def _end_with_parent() -> None:
    """Ask the kernel to kill this process when its parent dies (Linux; elsewhere the socket tells)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def _send(connection: socket.socket, message: dict[str, Any]) -> None:
    connection.sendall(json.dumps(message).encode() + b"\n")


if __name__ == "__main__":
    main()
