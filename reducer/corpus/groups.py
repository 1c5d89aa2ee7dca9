"""Which entries are about the same thing, and which of them are enough?

In two steps: entries of one bucket fail in the same way; the canonical case tells them apart, and is
part of their id. Near-duplicates are entries with the same culprit, whatever their surface.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from reducer.core.order import sort_key
from reducer.corpus.entry import Entry
from reducer.corpus.reading import Kept


def nearest(entries: Iterable[Kept]) -> list[list[Kept]]:
    """Entries with the same culprit together, those of one bucket side by side, simplest first."""

    def group(kept: Kept) -> str:
        return culprit(kept.entry)

    placed = sorted(entries, key=lambda kept: (group(kept), kept.entry.bucket, _simplest(kept)))
    return [list(found) for _, found in groupby(placed, key=group)]


def culprit(entry: Entry) -> str:
    """What really breaks it, as far as that is known: a pass, else where it is raised, else in what way."""
    signature = entry.signature
    raised = signature.raised_in or f"{signature.stage}: {' '.join(signature.types)}"
    return entry.culprit or raised


def near(entry: Entry, entries: Iterable[Kept]) -> list[Kept]:
    """Other entries with the same bucket or culprit."""
    return [
        kept
        for kept in entries
        if kept.entry.id != entry.id
        and (kept.entry.bucket == entry.bucket or culprit(kept.entry) == culprit(entry))
    ]


def enough(entries: Iterable[Kept]) -> list[Kept]:
    """The smallest set that has, of each bucket, every combination of culprit, operators and dtypes.

    An entry stands for one combination, so that is the simplest entry of each. An entry that must
    pass stands beside one that is known to fail: they ask for different things.
    """
    chosen: dict[object, Kept] = {}
    for kept in sorted(entries, key=_simplest):
        entry = kept.entry
        chosen.setdefault(
            (
                entry.backend,
                entry.bucket,
                culprit(entry),
                entry.operators,
                entry.dtypes,
                entry.status,
            ),
            kept,
        )
    return sorted(chosen.values(), key=lambda kept: kept.name)


def _simplest(kept: Kept) -> tuple[tuple[int, ...], str]:
    return sort_key(kept.entry.case), kept.name
