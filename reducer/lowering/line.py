"""What does a job tell before it has an answer? The stage it enters, what it captured, where it stands.

One stream of lines to the worker, of which the last is the answer. A job that dies leaves what it had
said by then, and :mod:`reducer.lowering.death` reads that.

Where it stands is told by a thread, from time to time; while native code keeps the interpreter to
itself that thread is silent, and the worker asks with a signal before it ends the job. (The watchdog of
``faulthandler`` needs no such help, but reads a running thread's frames unguarded: now and then it
crashes a sound job.)
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import threading
import time
from types import FrameType

from reducer.core import text
from reducer.core.stage import Stage
from reducer.core.wire import Capture, Limits, Result

#: A job's stack is written down this many times before its time is over.
SAMPLES = 5
#: It stands still if so many stacks in a row are the very same. A slow loop is seen on the line where it
#: spends most of its time a few times in a row, and is no hang.
STILL = 24
#: How the worker asks a silent job where it stands.
ASK = signal.SIGUSR2
#: Ends the line that begins a stack, in the form that ``faulthandler`` gives it.
STACK = "(most recent call first):"
#: Begins it, if the job tells by itself.
SAMPLE = "Sample"


def interval(limits: Limits) -> float:
    """Seconds between two stacks."""
    every = limits.seconds / (SAMPLES + 1)
    return min(every, limits.still / STILL) if limits.still else every


class Line:
    """The child's end: ``fd`` takes the lines, ``log`` (a file) what the runtime logs."""

    def __init__(self, fd: int, log: int) -> None:
        self.fd = fd
        self.log = log
        self._answered = threading.Event()
        self._lock = threading.Lock()  # two threads write, and a stack is longer than a pipe's atom

    def watch(self, limits: Limits) -> None:
        """Have the stack written down when a signal kills this process, and while time goes by."""
        faulthandler.enable(self.fd, all_threads=False)
        faulthandler.register(ASK, self.fd, all_threads=False)
        watched = (threading.get_ident(), interval(limits))
        threading.Thread(target=self._sample, args=watched, daemon=True).start()

    def _sample(self, thread: int, every: float) -> None:
        while not self._answered.wait(every):
            stack = _stack(sys._current_frames().get(thread))
            with self._lock:
                if not self._answered.is_set():
                    write(self.fd, stack.encode())

    def entered(self, stage: Stage) -> None:
        """Leave word of the stage that is being entered, and when: nothing may come after it."""
        self._write(f"stage {stage} {time.monotonic():.3f}\n")

    def captured(self, found: Capture) -> None:
        """Leave word of what is being lowered."""
        self._write(f"{text.dumps(found)}\n")

    def answer(self, result: Result) -> None:
        """The last line, which has no end."""
        self._answered.set()
        self._write(f"\n{text.dumps(result)}")

    def _write(self, said: str) -> None:
        with self._lock:
            write(self.fd, said.encode())


def write(fd: int, data: bytes) -> None:
    """Write all of it."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _stack(frame: FrameType | None) -> str:
    lines = [f"{SAMPLE} {STACK}"]
    while frame is not None:
        code = frame.f_code
        lines.append(f'  File "{code.co_filename}", line {frame.f_lineno} in {code.co_name}')
        frame = frame.f_back
    return "\n".join(lines) + "\n"
