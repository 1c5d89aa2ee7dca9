"""What is each part of `reduce` worth? Ours again with one part off, on the same case.

All run one lowering at a time, as every tool does. A second one at a time and two-speed judging are not measured
here yet: each will be a line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from reducer.core.case import Case
from tests.bench.run import Row, run
from tests.bench.task import Spending, Subject, Task, warm, without_regions
from tests.bench.tools import ours


def ablations(subject: Subject, spending: Spending) -> Iterator[Row]:
    """One row per part that is off."""

    def without_isolation(task: Task) -> Case:
        return ours.run(replace(task, attempt=without_regions(task.attempt)))

    yield run(without_isolation, "  without isolation", subject, spending, store=True)
    yield run(ours.run, "  without the store", subject, spending, store=False)
    yield without_gate(run(ours.run, "  without the gate", subject, spending, store=True))
    for name, _ in subject.worker.environment.accelerations:
        with warm(subject.settings, subject.folder, without=[name]) as worker:
            label = f"  - {name}"
            yield run(ours.run, label, subject, spending, store=True, worker=worker)
    with warm(subject.settings, subject.folder, accelerate=False) as worker:
        yield run(ours.run, "  - all accelerations", subject, spending, store=True, worker=worker)


def without_gate(row: Row) -> Row:
    """As if a candidate that is no program were a call like all others.

    Such a one cannot be lowered, so its seconds are those that it took anyway.
    """
    calls, unique = row.calls + row.refused, row.unique + row.refused
    return replace(row, calls=calls, unique=unique, refused=0)
