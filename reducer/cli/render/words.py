"""Which words say how many, how long, and where?"""

from __future__ import annotations

import os
import re
from pathlib import Path

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f]")


def count(number: int, noun: str) -> str:
    """The number with its noun.

    >>> count(1, "call"), count(2, "call")
    ('1 call', '2 calls')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def duration(seconds: float) -> str:
    """A length of time, in the two units that matter.

    >>> [duration(value) for value in (0.04, 2.34, 61, 3725)]
    ['0.04 s', '2.3 s', '1 min 01 s', '1 h 02 min']
    """
    if seconds < 59.5:
        return f"{seconds:.2f} s" if seconds < 0.1 else f"{seconds:.{int(seconds < 10)}f} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def printable(text: str) -> str:
    """The text without escape sequences and control characters: messages may come from anywhere.

    >>> printable("\\x1b[31mred\\x1b[0m \\x07bell")
    'red bell'
    """
    return _CONTROL.sub("", text)


def shown_path(path: Path) -> str:
    """A path as the user would type it: from the current folder, if it is below that."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except (ValueError, OSError):
        return os.fspath(path)
