"""What does native code say when it fails? ExecuTorch's runtime logs the reason on the process's stderr.

Python sees an error code only (``0x12``, which stands for many faults).
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress

#: Files of the runtime whose lines are about the machine, not about the program.
_REMARKS = ("cpuinfo_utils.cpp",)
#: At most this many lines count; the innermost, where it began, come first.
_LINES = 6

_LOGGED = re.compile(r"^\[([\w.+-]+\.(?:cpp|cc|c|h|hpp)):\d+\] (.*)$")
_LISTED = re.compile(r"^(arg \d+ with type id|dtype: \d+ \||[\d\s,\[\]]*$)")
_DYING = re.compile(
    r"^(terminate called |  what\(\): |free\(\): |malloc\(\): |double free|corrupted |\*\*\* stack smash"
    r"|.*: Assertion `)"
)


def complaints(log: str) -> str:
    """The lines of a log that say what went wrong, without lists of arguments and remarks.

    >>> complaints("[cpuinfo_utils.cpp:1] hm\\n[op_add.cpp:7] Check failed (x): \\nrubbish\\n")
    '[op_add.cpp:7] Check failed (x):'
    """
    kept: list[str] = []
    for line in log.splitlines():
        found = _LOGGED.match(line)
        if (
            found is not None and found[1] not in _REMARKS and not _LISTED.match(found[2])
        ) or _DYING.match(line):
            kept.append(line.strip())
    return "\n".join(dict.fromkeys(kept[:_LINES]))


@contextmanager
def logged_to(file: int | None, said: list[str]) -> Iterator[None]:
    """Send the process's stderr to a file meanwhile; ``said`` then holds what was written.

    ``file`` None: one of our own. What was written goes to the real stderr afterwards.
    """
    own = tempfile.TemporaryFile() if file is None else None  # noqa: SIM115  closed below
    target = own.fileno() if own is not None else file
    assert target is not None
    _flush()
    real = os.dup(2)
    start = os.lseek(target, 0, os.SEEK_END)
    os.dup2(target, 2)
    try:
        yield
    finally:
        _flush()
        os.dup2(real, 2)
        os.close(real)
        content = os.pread(target, 1 << 20, start)
        said.append(content.decode("utf-8", "replace"))
        with suppress(OSError):
            os.write(2, content)
        if own is not None:
            own.close()


def _flush() -> None:
    with suppress(AttributeError, ValueError, OSError):  # closed or replaced by the user's own
        sys.stderr.flush()
