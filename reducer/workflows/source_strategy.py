"""In which order is what tried where there is no graph yet? Parts of the source, then all that is in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

from reducer.core.case import Case
from reducer.core.delta import Delta, Edit
from reducer.core.events import Event, PhaseBegan
from reducer.core.wire import Attempt
from reducer.deltas import SOURCE, source_statements, source_unused
from reducer.search.chunks import remove_chunks
from reducer.workflows.reduction import Reduction
from reducer.workflows.sweeps import one_by_one, together


def size_before(case: Case, attempt: Attempt) -> int:
    """Operators of what was captured; statements of a source with the user's modules written into it."""
    return max(replace(case, source=text).operators for text in (case.source, *attempt.parts))


def isolate_source(reduction: Reduction, case: Case, attempt: Attempt) -> bool:
    """Find a first source that fails as wanted: the part at fault if it fails alone, else the whole."""
    parts = [replace(case, source=part) for part in attempt.parts]
    return any(reduction.offer(candidate, "isolate") for candidate in (*parts, case))


def minimise_source(reduction: Reduction, report: Callable[[Event], None]) -> None:
    """Reduce the best source until no single change helps."""
    before: Case | None = None
    while reduction.best != before:
        before = reduction.best
        report(PhaseBegan("statements", before.operators))
        together(reduction, cast(Delta, source_unused))
        _statements(reduction)
        together(reduction, cast(Delta, source_unused))
        report(PhaseBegan("expressions", reduction.best.operators))
        one_by_one(reduction, SOURCE)


def _statements(reduction: Reduction) -> None:
    start = reduction.best
    gone: list[Edit] = []

    def removed(chunk: Sequence[Edit]) -> bool:
        candidate = source_statements.apply(start, [*gone, *chunk])
        if not reduction.offer(candidate, source_statements.NAME):
            return False
        gone.extend(chunk)
        return True

    remove_chunks(source_statements.edits(start), removed)
