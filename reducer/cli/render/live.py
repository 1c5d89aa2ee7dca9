"""How does a run look on a terminal? Lines as in a log, and below them one that is alive."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from reducer.cli.render.lines import Lines
from reducer.core.events import Captured, Event, Started


class LiveScreen:
    """Context manager that gives what takes the events. The last line disappears at the end.

    ``clock`` gives seconds. rich itself heeds NO_COLOR.
    """

    def __init__(self, out: TextIO, lines: Lines, clock: Callable[[], float]) -> None:
        self._console = Console(file=out, highlight=False, emoji=False, markup=False)
        self._lines = lines
        self._clock = clock
        self._began = clock()
        self._live = Live(
            console=self._console,
            get_renderable=self._status,
            refresh_per_second=4,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> Callable[[Event], None]:
        self._live.start()
        return self._report

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.stop()

    def _report(self, event: Event) -> None:
        for number, line in enumerate(self._lines.of(event)):
            heading = number == 0 and isinstance(event, Started | Captured)
            self._console.print(Text(line, style="bold" if heading else ""), soft_wrap=True)

    def _status(self) -> Text:
        elapsed = self._clock() - self._began
        line = self._lines.progress.line(elapsed)
        return Text(line, style="cyan", no_wrap=True, overflow="ellipsis")
