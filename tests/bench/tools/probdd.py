"""ProbDD: each item has a probability of being needed, which every test makes more certain.

Wang, Shen, Chen, Xiong, Zhang: Probabilistic Delta Debugging, ESEC/FSE 2021. The start is 0.1 for all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from reducer.core.case import Case
from tests.bench.task import Task

START = 0.1


def minimize(items: Sequence[str], fails: Callable[[Sequence[str]], bool]) -> list[str]:
    """The items whose probability came to 1."""
    needed = dict.fromkeys(range(len(items)), START)
    while chosen := _chosen(needed):
        if fails([items[place] for place in needed if place not in chosen]):
            for place in chosen:
                del needed[place]
        else:  # at least one of them is needed
            some = 1 - math.prod(1 - needed[place] for place in chosen)
            for place in chosen:
                needed[place] = 1.0 if len(chosen) == 1 else min(1.0, needed[place] / some)
    return [items[place] for place in needed]


def _chosen(needed: Mapping[int, float]) -> set[int]:
    """Those least needed whose removal gains most, by expectation; none if all are certain."""
    best, gain, chance = 0, 0.0, 1.0
    order = sorted((place for place in needed if needed[place] < 1), key=lambda p: (needed[p], p))
    for count, place in enumerate(order, 1):
        chance *= 1 - needed[place]
        if count * chance > gain:
            best, gain = count, count * chance
    return set(order[:best])


def run(task: Task) -> Case | None:
    """Over the calls of the graph."""
    return task.keeping(minimize)
