"""How long may a call take, and how much memory? Learned from the first run, which has none to learn from."""

from __future__ import annotations

import math
import os

from reducer.core.kind import Kind
from reducer.core.wire import Attempt, Limits
from reducer.workflows.settings import ReduceSettings

#: A call may take this many times the seconds of the first run, and at least as long as the floor.
_FACTOR, _FLOOR = 10, 60.0
#: A call that hangs takes its whole limit: short, but longer than a small case needs.
_HANG_FLOOR = 20.0
#: The first run has no baseline. If its stack stays the very same for so long, it hangs.
_FIRST, _STILL = 3600.0, 120.0
#: What a call may take of the memory that is free: others use the machine as well.
_SHARE = 0.5
#: A case that eats memory has eaten enough.
_EATEN = 2 << 30


def first_limits(settings: ReduceSettings) -> Limits:
    """Limits for running the subject."""
    if settings.timeout is not None:
        return Limits(settings.timeout, memory=_free_memory())
    return Limits(_FIRST, memory=_free_memory(), still=_STILL)


def judge_limits(settings: ReduceSettings, first: Attempt) -> Limits:
    """Limits for judging candidates, after the first run."""
    assert first.failure is not None
    spent = sum(seconds for _, seconds in first.seconds)  # the same when resumed
    seconds = settings.timeout or max(_FLOOR, _FACTOR * spent)
    if first.failure.kind is Kind.HANGS:  # what was spent is what came before it
        seconds = min(seconds, max(_HANG_FLOOR, _FACTOR * spent))
    memory = _free_memory() // settings.jobs
    if first.failure.kind is Kind.MEMORY:
        memory = min(int(first.failure.allowed), _EATEN)
    return Limits(math.ceil(seconds), memory=memory)


def _free_memory() -> int:
    """Bytes that a call may take; 0 (no limit) where that cannot be known."""
    try:
        pages, size = os.sysconf("SC_AVPHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
        with open("/proc/meminfo") as meminfo:
            rows = dict(line.split(":", 1) for line in meminfo)
        return int(_SHARE * max(pages * size, int(rows["MemAvailable"].split()[0]) << 10))
    except (OSError, ValueError, KeyError):
        return 0
