"""CDD: ProbDD without probabilities: chunks whose sizes follow from the round alone.

Zhang, Xu, Tian, Sun et al.: Toward a Better Understanding of Probabilistic Delta Debugging, 2024
(arXiv 2408.04735). The sizes are those that our own fallback uses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reducer.core.case import Case
from reducer.search.chunks import remove_chunks
from tests.bench.task import Task


def minimize(items: Sequence[str], fails: Callable[[Sequence[str]], bool]) -> list[str]:
    """What is left when chunks of falling size were removed, each tried once."""
    left = list(range(len(items)))

    def removed(chunk: Sequence[int]) -> bool:
        rest = [place for place in left if place not in set(chunk)]
        if not fails([items[place] for place in rest]):
            return False
        left[:] = rest
        return True

    return [items[place] for place in remove_chunks(list(left), removed)]


def run(task: Task) -> Case | None:
    """Over the calls of the graph."""
    return task.keeping(minimize)
