"""On what does a run report: a terminal, a log, or nowhere?"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TextIO

from reducer.cli.render.lines import Lines
from reducer.cli.render.progress import Progress
from reducer.core.events import Event

Report = Callable[[Event], None]


def open_screen(
    out: TextIO, progress: Progress, *, quiet: bool = False
) -> AbstractContextManager[Report]:
    """What takes the events of one run; ``progress`` follows them in any case."""
    if quiet:
        return nullcontext(progress.see)
    if out.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", ""):
        from reducer.cli.render.live import LiveScreen

        return LiveScreen(out, Lines(progress), time.monotonic)
    return nullcontext(_plain(out, Lines(progress)))


def _plain(out: TextIO, lines: Lines) -> Report:
    """Whole lines, at once, without control characters."""

    def report(event: Event) -> None:
        for line in lines.of(event):
            print(line, file=out, flush=True)

    return report
