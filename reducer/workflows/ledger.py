"""Where did calls and seconds go? What judge and reduction counted, put together for the record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reducer.core.finding import Evidence, Ledger
from reducer.oracle.judge import AFTER_START, Counts
from reducer.search.bound import calls_bound
from reducer.workflows.reduction import Reduction

#: What calls are for that no delta proposed: the result, or a start that fails now and then, run again.
AGAIN = "run again"


def ledger(
    counts: Counts,
    reduction: Reduction,
    seconds: Mapping[str, float],
    certificate: Sequence[Evidence] = (),
) -> Ledger:
    """The ledger of a search; ``seconds`` is by activity, ``certificate`` that of its best case."""
    calls = counts.paid + counts.resumed
    useful = reduction.useful_calls
    paid = [
        (name, useful[name], n - useful[name]) for name, n in reduction.calls.most_common() if n
    ]
    if others := calls - reduction.calls.total():
        paid.append((AGAIN, 0, others))
    left = len({item.element for item in certificate})
    return Ledger(
        calls=calls,
        resumed=counts.resumed,
        repeated=counts.repeated,
        refused=counts.refused,
        verdicts=tuple((str(verdict), number) for verdict, number in counts.verdicts.most_common()),
        deltas=tuple(
            (name, tried, reduction.useful[name]) for name, tried in reduction.tried.most_common()
        ),
        seconds=_rounded(seconds),
        unique=len(counts.cases),
        invalid=counts.gates[AFTER_START],
        gates=tuple((reduction.gates + counts.gates).most_common()),
        paid=tuple(paid),
        stages=_rounded(counts.stages),
        sequential=round(counts.seconds, 3),
        elements=(reduction.elements, left),
        bound=calls_bound(reduction.elements, left) if left else 0,
        steps=tuple(reduction.steps),
        abandoned=counts.abandoned,
    )


def _rounded(seconds: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    return tuple((name, round(spent, 3)) for name, spent in seconds.items())
