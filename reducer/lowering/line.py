"""What does a job tell before it has an answer? The stage it enters, what it captured, where it stands.

One stream of lines to the worker, of which the last is the answer. A job that dies leaves what it had
said by then, and :mod:`reducer.lowering.death` reads that.
"""

from __future__ import annotations

import faulthandler
import os
import time

from reducer.core import text
from reducer.core.stage import Stage
from reducer.core.wire import Capture, Limits, Result

#: A job's stack is written down this many times before its time is over.
SAMPLES = 5


class Line:
    """The child's end: ``fd`` takes the lines, ``log`` (a file) what the runtime logs."""

    def __init__(self, fd: int, log: int) -> None:
        self.fd = fd
        self.log = log

    def watch(self, limits: Limits) -> None:
        """Have the stack written down when a signal kills this process, and while time runs out."""
        every = limits.seconds / (SAMPLES + 1)
        if limits.still:
            every = min(every, limits.still / SAMPLES)
        faulthandler.enable(self.fd, all_threads=False)
        faulthandler.dump_traceback_later(every, repeat=True, file=self.fd)

    def entered(self, stage: Stage) -> None:
        """Leave word of the stage that is being entered, and when: nothing may come after it."""
        write(self.fd, f"stage {stage} {time.monotonic():.3f}\n".encode())

    def captured(self, found: Capture) -> None:
        """Leave word of what is being lowered."""
        write(self.fd, text.dumps(found).encode() + b"\n")

    def answer(self, result: Result) -> None:
        """The last line, which has no end."""
        faulthandler.cancel_dump_traceback_later()
        write(self.fd, text.dumps(result).encode())


def write(fd: int, data: bytes) -> None:
    """Write all of it."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
