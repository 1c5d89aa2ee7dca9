"""Ours without making attributes simpler: like the others, it only takes calls, inputs and outputs away."""

from __future__ import annotations

from reducer.core.case import Case
from tests.bench.task import Task
from tests.bench.tools import ours

STORE = ours.STORE


def run(task: Task) -> Case:
    """Isolate, and minimise the structure."""
    return ours.run(task, attributes=())
