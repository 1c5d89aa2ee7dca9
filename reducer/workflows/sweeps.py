"""How are the edits of deltas tried? One by one, all of a delta at once, or what mostly goes of several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from reducer.core.case import Case
from reducer.core.delta import Delta, Edit
from reducer.deltas import USUAL, find_delta
from reducer.search.greedy import take_all_or_halves
from reducer.workflows.reduction import Reduction

#: The name under which calls are counted that try the edits of several attribute deltas.
ATTRIBUTES = "attributes"


def one_by_one(reduction: Reduction, deltas: Sequence[Delta]) -> None:
    """Try every edit of the deltas alone, from the best case at that moment, until none helps.

    First alternatives of all elements come before second ones of any: they are the likely ones.
    """
    tried: set[Edit] = set()
    progress = False
    while True:
        ranked = [pair for delta in deltas for pair in by_rank(delta.edits(reduction.best))]
        left = [edit for _, edit in sorted(ranked, key=lambda pair: pair[0]) if edit not in tried]
        reduction.left = len(left)
        if left:
            tried.add(left[0])
            later = (_edited(reduction.best, edit) for edit in left[1:])
            progress |= reduction.offer(_edited(reduction.best, left[0]), left[0].delta, later)
        elif progress:
            progress = False
            tried.clear()  # what did not help before may help now
        else:
            return


def _edited(case: Case, edit: Edit) -> Case | None:
    return find_delta(edit.delta).apply(case, [edit])


def by_rank(edits: Sequence[Edit]) -> list[tuple[int, Edit]]:
    """Each edit with its place among the alternatives of its element."""
    seen: Counter[str] = Counter()
    ranked = []
    for edit in edits:
        ranked.append((seen[edit.element], edit))
        seen[edit.element] += 1
    return ranked


def together(reduction: Reduction, delta: Delta, *, refused: bool = False) -> None:
    """Try the edits of a delta all at once, then in halves; alternatives of an element in turn.

    ``refused``: the first ones of all elements are known not to go together.
    """

    def taken(some: Sequence[Edit]) -> bool:
        return reduction.offer_edits(delta, some)

    gone: set[Edit] = set()
    while choice := _choices(delta, reduction.best, without=gone):
        gone |= set(take_all_or_halves(choice, taken, refused=refused))
        refused = False


def _choices(delta: Delta, case: Case, without: Collection[Edit] = ()) -> list[Edit]:
    """The first edit of each element."""
    choice: dict[str, Edit] = {}
    for edit in delta.edits(case):
        if edit not in without:
            choice.setdefault(edit.element, edit)
    return list(choice.values())


def usual_together(reduction: Reduction, attributes: Sequence[Delta]) -> list[Delta]:
    """Try in one call what nearly always goes, then by halves; the deltas whose first edits do not."""

    def taken(deltas: Sequence[Delta]) -> bool:
        case: Case | None = reduction.best
        for delta in deltas:
            if case is not None:
                edits = _choices(delta, case)
                case = delta.apply(case, edits if delta.TOGETHER else edits[:1])
        return reduction.offer(case, ATTRIBUTES)

    usual = [delta for delta in USUAL if delta in attributes and delta.edits(reduction.best)]
    return take_all_or_halves(usual, taken)
