"""When does a search have to stop?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


class BudgetSpent(Exception):
    """Raised before a call that the budget does not allow; ``reason`` says which limit it was."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass
class Budget:
    """At most ``calls`` paid calls and ``seconds`` of wall time by ``clock``; None: no limit."""

    clock: Callable[[], float]
    calls: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        self._start = self.clock()
        self._paid = 0

    @property
    def paid(self) -> int:
        """Paid calls so far."""
        return self._paid

    @property
    def elapsed(self) -> float:
        """Seconds since the budget was made."""
        return self.clock() - self._start

    def check(self) -> None:
        """Raise BudgetSpent if no further call is allowed."""
        if self.calls is not None and self._paid >= self.calls:
            raise BudgetSpent(f"--max-calls {self.calls} reached")
        if self.seconds is not None and self.elapsed >= self.seconds:
            raise BudgetSpent(f"--budget of {self.seconds:g} s spent")

    def allows(self, calls: int) -> bool:
        """Whether so many further calls may be paid."""
        return self.calls is None or self._paid + calls <= self.calls

    def pay(self) -> None:
        """Count one paid call."""
        self._paid += 1
