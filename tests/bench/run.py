"""What did a tool reach on a case, and what did it cost?"""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass

from reducer.core.case import Case
from reducer.core.errors import ReducerError
from reducer.oracle.worker import Worker
from reducer.search.budget import BudgetSpent
from tests.bench.oracle import Oracle, Step
from tests.bench.task import Spending, Subject, Task

Tool = Callable[[Task], Case | None]


@dataclass(frozen=True)
class Row:
    """One run of one tool on one case.

    ``calls`` lowered something, ``unique`` of them different programs; ``refused`` were no programs.
    ``last_win``: the call after which it got no smaller. ``same`` None: it ended with nothing. ``stopped``
    says which limit ended it, ``problem`` why it cannot do this case.
    """

    case: str
    tool: str
    operators: int | None = None
    calls: int = 0
    unique: int = 0
    refused: int = 0
    seconds: float = 0.0
    last_win: int = 0
    same: bool | None = None
    stopped: str = ""
    problem: str = ""
    steps: tuple[Step, ...] = ()


def run(
    tool: Tool,
    name: str,
    subject: Subject,
    spending: Spending,
    *,
    store: bool = False,
    worker: Worker | None = None,
) -> Row:
    """Let a tool reduce a case within what it may spend."""
    stopped = problem = ""
    found: Case | None = None
    gc.collect()
    with subject.task(spending, store=store, worker=worker) as task:
        try:
            found = tool(task)
        except BudgetSpent as spent:
            stopped = spent.reason
        except Exception as error:  # a tool of others may end in any way: the table says how
            problem = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        seconds, oracle = task.oracle.elapsed, task.oracle
    found = found or oracle.best
    return row(
        subject.name, name, oracle, seconds, found, _checked(subject, found), stopped, problem
    )


def row(
    case: str,
    tool: str,
    oracle: Oracle,
    seconds: float,
    found: Case | None,
    same: bool | None,
    stopped: str = "",
    problem: str = "",
) -> Row:
    """What the oracle's log says."""
    paid, steps = oracle.paid, tuple(oracle.steps)
    return Row(
        case,
        tool,
        operators=found.operators if found is not None else None,
        calls=len(paid),
        unique=len({call.key for call in paid}),
        refused=len(oracle.log) - len(paid),
        seconds=seconds,
        last_win=steps[-1].calls if steps else 0,
        same=same,
        stopped=stopped,
        problem=problem,
        steps=steps,
    )


def _checked(subject: Subject, found: Case | None) -> bool | None:
    try:
        return None if found is None else subject.fails_the_same(found)
    except ReducerError:
        return False
