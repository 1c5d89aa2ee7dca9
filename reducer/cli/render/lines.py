"""Which lines does an event leave on the screen? The same ones on a terminal and in a log."""

from __future__ import annotations

from reducer.cli.render.progress import Progress
from reducer.cli.render.words import count, duration, printable, shown_path
from reducer.core.events import Captured, Confirmed, Event, Improved, Note, PhaseBegan, Started
from reducer.core.signature import named_pass
from reducer.core.stage import Stage


class Lines:
    """Turns events into lines, and keeps the :class:`Progress` that they add up to.

    Not a line per verdict: what was captured, each phase, each smaller number of operators, what
    the confirmation said.
    """

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self._smallest: int | None = None

    def of(self, event: Event) -> list[str]:
        """The lines that an event adds; none for most."""
        self.progress.see(event)
        return [printable(line) for line in self._lines(event)]

    def _lines(self, event: Event) -> list[str]:
        if isinstance(event, Started):
            return _started(event)
        if isinstance(event, Captured):
            self._smallest = event.operators
            return captured_lines(event)
        if isinstance(event, PhaseBegan):
            return [f"{event.name + ':':<12} {count(event.operators, self.progress.unit)}"]
        if isinstance(event, Improved):
            return self._improved(event)
        if isinstance(event, Confirmed):
            says = "fails the same way" if event.ok else "does not fail the same way"
            return [f"{shown_path(event.path)} {says} in a clean process"
                    f" ({duration(event.seconds)})"]  # fmt: skip
        if isinstance(event, Note):
            return [f"note: {event.text}"]
        return []

    def _improved(self, event: Improved) -> list[str]:
        if self._smallest is not None and event.operators >= self._smallest:
            return []
        self._smallest = event.operators
        calls = count(self.progress.calls, "call")
        return [f"{'':<12} {count(event.operators, self.progress.unit)} after {calls}"]


def captured_lines(event: Captured) -> list[str]:
    """What fails, what the message blames, and what is behind it."""
    failure = event.failure
    lowered = f", lowered with {event.backend}" if event.stage.rank >= Stage.TO_EDGE.rank else ""
    lines = [
        f"fails in {event.stage}: {event.form or 'subject'} of "
        f"{count(event.operators, event.unit)}{lowered}"
        f" ({duration(event.seconds)})",
        f"  observed: {failure.headline}",
    ]
    if blamed := named_pass(failure):
        lines.append(f"  names:    {blamed}")
    if len(failure.chain) > 1:
        lines.append(f"  cause:    {failure.cause}")
    return lines + [f"  note:     {note}" for note in event.notes]


def _started(event: Started) -> list[str]:
    backend = f" with {event.backend}" if event.backend else ""
    lines = [f"{event.subject}{backend} -> {shown_path(event.output)}"]
    if event.resumed:
        lines.append(f"{count(event.resumed, 'stored result')} of earlier runs")
    return lines
