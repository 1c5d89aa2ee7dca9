"""How far is a list of jobs? A bar on a terminal, lines in a log."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO


@contextmanager
def bar(out: TextIO, total: int) -> Iterator[Callable[[str], None]]:
    """Gives what takes the lines of one finished job after the other."""
    if not (out.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "")):
        yield lambda lines: print(lines, file=out, flush=True)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn
    from rich.text import Text

    console = Console(file=out, highlight=False, emoji=False, markup=False)
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=total)

        def step(lines: str) -> None:
            console.print(Text(lines), soft_wrap=True)
            progress.advance(task)

        yield step
