"""What became of an entry when it was tried again?"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from reducer.core.text import register
from reducer.corpus.entry import MUST_PASS, Versions


@register
class Outcome(str, Enum):
    """What an entry does now."""

    FAILS = "still fails"
    FIXED = "fixed"
    DIFFERENT = "fails differently"
    FLAKY = "flaky"
    """Two runs of it disagreed."""
    CANNOT_RUN = "cannot run here"
    UNREADABLE = "unreadable"

    def __str__(self) -> str:
        return self.value


@register
@dataclass(frozen=True)
class Replayed:
    """One entry, tried on one environment.

    ``recorded`` is what it is known to fail with; ``detail`` what was seen instead, or why it cannot
    run. ``seconds`` are those of the calls. ``versions`` None: it was not tried.
    """

    name: str
    status: str
    recorded: str
    outcome: Outcome
    detail: str = ""
    seconds: float = 0.0
    versions: Versions | None = None

    @property
    def as_recorded(self) -> bool:
        """Whether it does what the entry says; what cannot run says nothing against it."""
        good = Outcome.FIXED if self.status == MUST_PASS else Outcome.FAILS
        return self.outcome in (good, Outcome.CANNOT_RUN)

    @property
    def word(self) -> str:
        """The outcome in the words that fit the entry's status."""
        if self.status == MUST_PASS:
            words = {Outcome.FIXED: "passes", Outcome.FAILS: "fails again"}
            return words.get(self.outcome, str(self.outcome))
        return str(self.outcome)

    @property
    def advice(self) -> str:
        """What to do about it; "" if nothing."""
        if self.outcome is Outcome.FIXED and self.status != MUST_PASS:
            return f"fixed: promote (reduce corpus promote {self.name})"
        return ""
