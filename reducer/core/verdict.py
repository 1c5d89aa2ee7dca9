"""What can judging one candidate say?"""

from __future__ import annotations

from enum import Enum


class Verdict(str, Enum):
    """The oracle's answer about one case, against one wanted signature."""

    SAME = "same"
    """It fails, and its signature matches the wanted one: the candidate may be kept."""
    OTHER = "other failure"
    """It fails with another signature (slippage): never followed, but saved."""
    PASSES = "passes"
    INVALID = "invalid"
    """Not a program at all: it cannot be rebuilt or exported. Not a paid call."""
    TIMEOUT = "timeout"
    CRASH = "crash"
    """The process that lowered it died."""
    FLAKY = "flaky"
    """Repeated runs of the same case disagreed."""

    def __str__(self) -> str:
        return self.value

    @property
    def paid(self) -> bool:
        """Whether lowering was started: the unit in which a search is measured."""
        return self is not Verdict.INVALID
