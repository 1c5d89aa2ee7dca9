"""How far is the reduction? What the events so far add up to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from reducer.cli.render.words import count, duration
from reducer.core.events import Captured, Event, Improved, Judged, PhaseBegan, Started


@dataclass
class Progress:
    """State of one run. ``seconds`` are those of paid calls; ``left`` is an estimate of calls."""

    output: Path | None = None
    repro: Path | None = None
    captured: Captured | None = None
    phase: str = ""
    operators: int | None = None
    unit: str = "operator"
    calls: int = 0
    seconds: float = 0.0
    left: int | None = None

    def see(self, event: Event) -> None:
        """Take an event into account."""
        if isinstance(event, Started):
            self.output, self.phase = event.output, "capture"
        elif isinstance(event, Captured):
            self.captured, self.operators, self.unit = event, event.operators, event.unit
        elif isinstance(event, PhaseBegan):
            self.phase, self.operators = event.name, event.operators
        elif isinstance(event, Judged):
            self.operators, self.calls, self.left = event.best, event.calls, event.left
            if event.verdict.paid and not event.stored:
                self.seconds += event.seconds
        elif isinstance(event, Improved):
            self.operators, self.repro = event.operators, event.path

    @property
    def seconds_per_call(self) -> float:
        """Mean seconds of a paid call; 0 before the first."""
        return self.seconds / self.calls if self.calls else 0.0

    @property
    def where(self) -> str:
        """What is going on, for a sentence such as "interrupted ..."."""
        if self.captured is None:
            return "while the subject was captured" if self.phase else ""
        calls = f" after {count(self.calls, 'call')}" if self.calls else ""
        return f"in phase {self.phase}{calls}" if self.phase != "capture" else "before the search"

    def line(self, elapsed: float) -> str:
        """One line that says it all, ``elapsed`` seconds after the start."""
        parts = ["start and capture" if self.captured is None else self.phase]
        if self.captured is not None and self.operators is not None:
            parts.append(f"{count(self.operators, self.unit)} left")
        if self.calls:
            parts.append(count(self.calls, "call"))
            parts.append(f"{duration(self.seconds_per_call)} each")
        if self.left is not None and self.calls:
            parts.append(f"about {duration(self.left * self.seconds_per_call)} to go")
        return " · ".join([*parts, duration(elapsed)])
