"""In which words are passes, frames and counts named?"""

from __future__ import annotations

from collections.abc import Sequence

from reducer.core.diagnosis import Explanation, PassRun
from reducer.core.signature import Frame

#: How many names are listed before the rest is counted.
_LISTED = 6


def listed(names: Sequence[str], most: int = _LISTED) -> str:
    """Names in a row; of more than ``most`` the first ones and the number of the others.

    >>> listed(["a", "b"]), listed("abcdefgh")
    ('a, b', 'a, b, c, d, e, f and 2 more')
    """
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def counted(number: int, noun: str, plural: str = "") -> str:
    """The number with its noun.

    >>> counted(1, "pass", "passes"), counted(2, "pass", "passes")
    ('1 pass', '2 passes')
    """
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def place(frame: Frame) -> str:
    """A frame as ``module:function``, with its line if that is known.

    >>> place(Frame("a.b", "call", 3)), place(Frame("a.b", "call"))
    ('a.b:call (line 3)', 'a.b:call')
    """
    where = f"{frame.module}:{frame.function}"
    return f"{where} (line {frame.line})" if frame.line else where


def stack(explanation: Explanation, run: PassRun) -> list[PassRun]:
    """The runs that a run was nested in, outer first, and itself."""
    found = [run]
    while found[0].parent is not None:
        found.insert(0, explanation.runs[found[0].parent])
    return found


def outermost(explanation: Explanation, run: PassRun) -> PassRun:
    """The outermost pass in which a run was nested; itself if it was in none."""
    return stack(explanation, run)[0]


def called(explanation: Explanation, run: PassRun) -> str:
    """A run in words: its pass, which time it ran, whose it is if it is nested."""
    outer = [other.name for other in stack(explanation, run)[:-1] if other.name != run.name]
    time = f", run {run.nth}" if run.nth > 1 else ""
    within = f" called by {outer[-1]}" if outer else ""
    return f"{run.name}{within}{time}"
