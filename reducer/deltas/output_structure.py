"""Return a plain tuple instead of nested lists, dicts and named tuples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reducer.core.case import Case
from reducer.core.delta import Edit

NAME = "output-structure"
TOGETHER = True


def edits(case: Case) -> list[Edit]:
    """One edit if the outputs are nested."""
    return [] if case.structure is None else [Edit(NAME, "outputs", (), "return a flat tuple")]


def apply(case: Case, edits: Sequence[Edit]) -> Case | None:
    """Flatten."""
    return replace(case, structure=None) if edits else case
