"""Picire as a library, as it is: ddmin with its cache of outcomes.

Hodován, Kiss: Modernizing Hierarchical Delta Debugging, A-TEST 2016. Needs the extra ``bench``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from reducer.core.case import Case
from tests.bench.task import Task


def minimize(
    items: Sequence[str], fails: Callable[[Sequence[str]], bool], **options: Any
) -> list[str]:
    """A 1-minimal part of ``items`` that still fails. ``options`` go to ``picire.DD``."""
    from picire import DD, Outcome
    from picire.outcome_cache import ContentCache

    cache = ContentCache()  # by the items' places: its default is a tree of as many levels as items
    cache.set_test_builder(tuple)

    def test(places: Sequence[int], _: object) -> Any:
        return Outcome.FAIL if fails([items[place] for place in places]) else Outcome.PASS

    found = DD(test, cache=cache, **options)(list(range(len(items))))
    return [items[place] for place in found]


def run(task: Task) -> Case | None:
    """Over the calls of the graph."""
    return task.keeping(minimize)
