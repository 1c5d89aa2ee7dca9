"""What is known of one run of a pass, while it goes on and afterwards?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from reducer.core.diagnosis import Extraction, PassRun, Violation
from reducer.core.stage import Stage
from reducer.lowering.errors import headline
from reducer.lowering.watch.identity import Identity
from reducer.lowering.watch.invariants import Observation
from reducer.lowering.watch.view import View


@dataclass(eq=False)
class Run:
    """One run of a pass while it goes on, and afterwards.

    ``before`` and ``was`` are let go when it has ended. ``suspects`` are the nodes at which something
    does not hold, in names of the program that was handed in.
    """

    thing: Any
    who: Identity
    index: int
    stage: Stage
    delegate: int | None
    parent: Run | None
    nth: int
    before: View | None
    was: dict[str, Observation]
    violations: list[Violation] = field(default_factory=list)
    inherited: list[Violation] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    suspects: list[str] = field(default_factory=list)
    extraction: Extraction | None = None
    error: BaseException | None = None
    seconds: float = 0.0
    digests: tuple[str, str] = ("", "")
    ended: int = -1
    takes: str = "graph"

    def is_in(self, outer: Run) -> bool:
        """Whether it is nested in another run, at any depth."""
        parent = self.parent
        while parent is not None and parent is not outer:
            parent = parent.parent
        return parent is not None

    @property
    def record(self) -> PassRun:
        """The run as plain data."""
        return PassRun(
            self.index, self.who.name, self.who.module, self.who.function, self.stage,
            self.who.arguments, self.who.construct, self.takes,
            self.parent.index if self.parent else None,
            self.nth, self.delegate, round(self.seconds, 6), *self.digests,
            tuple(self.violations), tuple(self.inherited), tuple(self.skipped.items()),
            self.extraction, headline(self.error) if self.error else "",
        )  # fmt: skip
