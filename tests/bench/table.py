"""How do rows read? As a table of text, with medians of repeats, and ours set against each tool."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import median

from tests.bench.run import Row
from tests.bench.tools import OURS

HEAD = (
    f"{'case':<22}{'tool':<27}{'operators':>10}{'calls':>8}{'unique':>8}{'refused':>9}"
    f"{'to size':>9}{'seconds':>10}  same"
)


def line(row: Row) -> str:
    """One row. ``>``: a limit ended it, so it would have taken more."""
    if row.problem:
        return f"{row.case:<22}{row.tool:<27}{'-':>10}  {row.problem}"
    more = ">" if row.stopped else ""
    operators = "-" if row.operators is None else str(row.operators)
    same = {True: "yes", False: "NO", None: "-"}[row.same]
    calls, seconds = f"{more}{row.calls}", f"{more}{row.seconds:.1f}"
    return (
        f"{row.case:<22}{row.tool:<27}{operators:>10}{calls:>8}{row.unique:>8}{row.refused:>9}"
        f"{row.last_win:>9}{seconds:>10}  {same}"
    )


def medians(rows: Sequence[Row]) -> Row:
    """The repeats of one tool on one case as one row; its steps are those of the first."""
    if len(rows) == 1 or any(row.problem or row.operators is None for row in rows):
        return next((row for row in rows if row.problem), rows[0])
    return replace(
        rows[0],
        operators=max(row.operators or 0 for row in rows),
        calls=round(median(row.calls for row in rows)),
        unique=round(median(row.unique for row in rows)),
        refused=round(median(row.refused for row in rows)),
        last_win=round(median(row.last_win for row in rows)),
        seconds=median(row.seconds for row in rows),
        same=all(row.same for row in rows),
        stopped=next((row.stopped for row in rows if row.stopped), ""),
    )


def ratios(rows: Sequence[Row], ours: str) -> Iterable[str]:
    """For each tool of others, ours divided by it: calls, seconds; and where ours has more operators."""
    own = {row.case: row for row in rows if row.tool == ours and not row.problem}
    yield f"{f'{ours} / tool':<49}{'calls':>8}{'seconds':>27}  operators"
    for row in rows:
        mine = own.get(row.case)
        if mine is None or row.tool in OURS or row.problem or not row.calls:
            continue
        least = "<" if row.stopped else ""
        calls, seconds = mine.calls / row.calls, mine.seconds / row.seconds
        yield (
            f"{row.case:<22}{row.tool:<27}{f'{least}{calls:.2f}':>8}{f'{least}{seconds:.2f}':>27}"
            f"  {_sizes(mine, row)}"
        )


def _sizes(mine: Row, other: Row) -> str:
    if other.operators is None or not other.same:
        return "it has none that fails the same"
    if mine.operators is None or mine.operators > other.operators:
        return f"MORE: {mine.operators} against {other.operators}"
    return f"{mine.operators} against {other.operators}"
