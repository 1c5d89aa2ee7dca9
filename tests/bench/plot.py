"""How does the size go down over time? One panel per case, one line per tool. Needs the extra ``bench``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.bench.run import Row


def plot(rows: Sequence[Row], path: Path) -> None:
    """Write a picture; its kind follows from the file's name."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    cases = list(dict.fromkeys(row.case for row in rows))
    figure, panels = pyplot.subplots(
        len(cases), 1, figsize=(9, 4 * len(cases)), squeeze=False, layout="constrained"
    )
    for case, panel in zip(cases, panels[:, 0], strict=True):
        panel.set_prop_cycle(color=mpl.colormaps["tab20"].colors)  # there are more than ten tools
        for row in (row for row in rows if row.case == case and row.steps):
            times, sizes = curve(row)
            wide = 2.5 if row.tool == "ours" else 1.2
            panel.step(times, sizes, where="post", label=row.tool, linewidth=wide)
        panel.set(title=case, xlabel="seconds", ylabel="operators", xscale="log", yscale="log")
        panel.legend(fontsize="small")
    figure.savefig(path)
    pyplot.close(figure)


def curve(row: Row) -> tuple[list[float], list[int]]:
    """Times and sizes of a tool's steps, up to its end."""
    times = [step.at for step in row.steps]
    sizes = [step.operators for step in row.steps]
    return [*times, row.seconds], [*sizes, sizes[-1]]
