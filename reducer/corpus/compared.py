"""What does a fix change? Two sides of one entry, or of one healthy model, compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from reducer.corpus.outcome import Outcome
from reducer.corpus.side import FAILS, OneSide

_FAILS, _LOWERS = Outcome.FAILS, Outcome.FIXED
_UNCLEAR = (Outcome.CANNOT_RUN, Outcome.UNREADABLE)


class Change(str, Enum):
    """What became of it. The order is that of importance to who has to decide."""

    BROKEN = "newly broken"
    HIDDEN = "hidden, not fixed"
    """It no longer fails, but what made it fail still happens."""
    FIXED = "fixed"
    CHANGED = "changed"
    FAILING = "still failing"
    UNCLEAR = "cannot be compared"
    SAME = "unchanged"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Compared:
    """An entry, or a healthy model (``model``), on both sides.

    ``recorded`` is what an entry is known to fail with. ``lines`` say how two ``.pte`` differ; ``steady``
    False: lowered twice on the side without the fix it differs as well.
    """

    name: str
    before: OneSide
    after: OneSide
    model: bool = False
    recorded: str = ""
    lines: tuple[str, ...] = ()
    steady: bool = True

    @property
    def change(self) -> Change:
        """What the fix does to it."""
        was, now = self.before.outcome, self.after.outcome
        if was in _UNCLEAR:
            return Change.UNCLEAR
        if was == _LOWERS:
            if now != _LOWERS or self._test_broke or (self.model and self.newly_broken):
                return Change.BROKEN
            same = self.before.pte == self.after.pte and not self.invariants
            return Change.SAME if same else Change.CHANGED
        if now == _LOWERS:
            if was == Outcome.FLAKY:
                return Change.CHANGED  # it may be by chance
            return Change.HIDDEN if self.still_broken or self.after.test == FAILS else Change.FIXED
        same = was == now and (was == _FAILS or self.before.detail == self.after.detail)
        return Change.FAILING if same else Change.CHANGED

    @property
    def still_broken(self) -> bool:
        """Whether what was at fault before breaks the same invariant now."""
        return bool(self.before.cause[0]) and self.before.cause in {
            (invariant, what) for invariant, what, _ in self.after.broken
        }

    @property
    def newly_broken(self) -> tuple[tuple[str, str, str], ...]:
        """Invariants that hold on the way without the fix, and not with it."""
        if not (self.before.watched and self.after.watched):
            return ()
        known = {item[:2] for item in self.before.broken}
        return tuple(item for item in self.after.broken if item[:2] not in known)

    @property
    def invariants(self) -> tuple[str, ...]:
        """Which invariants hold now that did not, and the other way round; what the retraces ran under."""
        if not (self.before.watched and self.after.watched):
            return ()
        was, now = set(self.before.broken), set(self.after.broken)
        changed = [f"now: {_told(item)}" for item in sorted(now - was)]
        changed += [f"no longer: {_told(item)}" for item in sorted(was - now)]
        old, new = set(self.before.retraces), set(self.after.retraces)
        # What failed did not come to the passes that run now.
        more = new - old if self.before.outcome is _LOWERS else set()
        changed += [f"now: the retrace of {name} runs {_under(on)}" for name, on in sorted(more)]
        changed += [
            f"no longer: the retrace of {name} runs {_under(on)}" for name, on in sorted(old - new)
        ]
        return tuple(changed)

    @property
    def _test_broke(self) -> bool:
        return bool(self.before.test) and self.before.test != FAILS and self.after.test == FAILS


@dataclass(frozen=True)
class Verdict:
    """What all of it comes to. ``wanted`` are the entries that the fix is meant for; () if any."""

    compared: tuple[Compared, ...]
    wanted: tuple[str, ...] = ()

    @property
    def good(self) -> bool:
        """It fixes what it is meant to fix, or anything; it hides nothing and breaks nothing new."""
        changes = [item.change for item in self.compared]
        if Change.BROKEN in changes or Change.HIDDEN in changes:
            return False
        if self.wanted:
            return not self.missed
        return Change.FIXED in changes

    @property
    def missed(self) -> tuple[str, ...]:
        """Wanted entries that are not fixed."""
        fixed = {item.name for item in self.compared if item.change is Change.FIXED}
        return tuple(name for name in self.wanted if name not in fixed)


def by_importance(items: Sequence[Compared]) -> list[Compared]:
    """Those first that decide; entries before models."""
    order = list(Change)
    return sorted(items, key=lambda item: (item.model, order.index(item.change), item.name))


def _told(item: tuple[str, str, str]) -> str:
    invariant, what, after = item
    return f"{invariant}: {what} after {after}"


def _under(dispatcher: bool) -> str:
    return "under the Python dispatcher" if dispatcher else "without the Python dispatcher"
