"""How does the evidence for a fix look to a person, to a pull request, and to a program?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from reducer.cli.render.replayed import cell
from reducer.cli.render.words import printable
from reducer.corpus.compared import Change, Compared, Verdict, by_importance
from reducer.corpus.outcome import Outcome
from reducer.corpus.side import OneSide
from reducer.workflows.verify import Sides

#: Lines of one difference between two ``.pte`` that are shown.
_LINES = 30
_IDENTICAL, _DIFFERS = "identical", "differs"


def row(name: str, with_fix: bool, seen: OneSide) -> str:
    """One job, as it is done."""
    side = "with the fix" if with_fix else "without"
    text = f"{side:<14}{_does(seen):<20}{name}"
    return printable(f"{text}\n  {seen.detail[:200]}" if seen.detail else text)


def headline(verdict: Verdict) -> str:
    """What it comes to, in a line."""
    entries = Counter(item.change for item in verdict.compared if not item.model)
    models = [item for item in verdict.compared if item.model]
    told = [f"{entries[change]} {change}" for change in Change if entries[change]]
    if models:
        broken = sum(item.change is Change.BROKEN for item in models)
        told.append(
            f"healthy models: {broken} newly broken" if broken else "healthy models: none broken"
        )
    word = "verified" if verdict.good else "not verified"
    if verdict.missed:
        told.append(f"meant to be fixed and not: {', '.join(verdict.missed)}")
    return f"{word}: {'; '.join(told) or 'nothing was tried'}"


def markdown(verdict: Verdict, sides: Sides, what: str) -> str:
    """The table to paste into a pull request. ``what`` names the fix."""
    items = by_importance(verdict.compared)
    entries, models = [i for i in items if not i.model], [i for i in items if i.model]
    lines = [
        f"### Fix {headline(verdict)}",
        "",
        f"Without: {sides.versions[sides.before]}. With: {cell(what)}.",
    ]
    if sides.overlay is not None:
        lines[-1] += f" Changed: {', '.join(f'`{name}`' for name in sides.overlay.files)}."
        if sides.overlay.left_out:
            lines[-1] += f" Left out: {', '.join(f'`{name}`' for name in sides.overlay.left_out)}."
    if entries:
        lines += ["", *_entries(entries)]
    if models:
        lines += ["", *_models(models)]
    lines += _details(items)
    return "\n".join(lines) + "\n"


def document(verdict: Verdict, sides: Sides, what: str) -> dict[str, Any]:
    """For a program."""
    return {
        "verified": verdict.good,
        "fix": what,
        "before": sides.versions[sides.before],
        "after": sides.versions[sides.after],
        "changed_files": list(sides.overlay.files) if sides.overlay else [],
        "left_out": list(sides.overlay.left_out) if sides.overlay else [],
        "missed": list(verdict.missed),
        "entries": [_facts(item) for item in verdict.compared if not item.model],
        "models": [
            {**_facts(item), "identical": _same_bytes(item), "difference": list(item.lines)}
            for item in verdict.compared
            if item.model
        ],
    }


def _facts(item: Compared) -> dict[str, Any]:
    return {
        "name": item.name,
        "change": str(item.change),
        "before": {"outcome": _does(item.before), "detail": item.before.detail, "test": item.before.test},
        "after": {"outcome": _does(item.after), "detail": item.after.detail, "test": item.after.test},
        "invariants": list(item.invariants),
    }  # fmt: skip


def _entries(items: Sequence[Compared]) -> list[str]:
    lines = ["| entry | fails with | without | with | its test | verdict |", "|---" * 6 + "|"]
    for item in items:
        test = f"{item.before.test or '-'} → {item.after.test or '-'}"
        mark = "**" if item.change in (Change.BROKEN, Change.HIDDEN) else ""
        cells = [item.name, item.recorded[:80], _does(item.before), _does(item.after), test]
        lines.append(f"| {' | '.join(map(cell, cells))} | {mark}{item.change}{mark} |")
    return lines


def _models(items: Sequence[Compared]) -> list[str]:
    """A row for each model, a column for each backend."""
    place = {tuple(item.name.split("/", 1)): item for item in items}
    backends = sorted({backend for backend, _ in place})
    names = sorted({name for _, name in place})
    totals = []
    for backend in backends:
        own = [item for (of, _), item in place.items() if of == backend]
        totals.append(f"{backend} {sum(map(_same_bytes, own))} of {len(own)}")
    lines = [f"`.pte` byte-identical: {', '.join(totals)}.", ""]
    lines += [f"| healthy model | {' | '.join(backends)} |", "|---" * (1 + len(backends)) + "|"]
    for name in names:
        found = [place.get((backend, name)) for backend in backends]
        lines.append(f"| {name} | {' | '.join(_of_model(item) for item in found)} |")
    return lines


def _of_model(item: Compared | None) -> str:
    if item is None:
        return ""
    if item.change is Change.BROKEN:
        return f"**{item.change}**"
    if item.before.outcome is item.after.outcome is Outcome.FIXED:
        told = _IDENTICAL if _same_bytes(item) else _DIFFERS
        told = told if item.steady else f"{told} (so do two runs without the fix)"
        return f"{told}, invariants changed" if item.invariants else told
    return str(item.change)


def _details(items: Sequence[Compared]) -> list[str]:
    """Which invariants changed, what is said of failures, how ``.pte`` differ."""
    lines: list[str] = []
    for item in items:
        told = [f"- {cell(text)}" for text in item.invariants]
        if item.after.detail and item.change is not Change.SAME:
            told.append(f"- with the fix: {cell(item.after.detail)}")
        if told:
            lines += ["", f"{item.name}, {item.change}:", "", *told]
        if item.lines:
            shown = [printable(line) for line in item.lines[:_LINES]]
            more = len(item.lines) - len(shown)
            lines += [
                "",
                f"{item.name}:",
                "",
                "```text",
                *shown,
                *([f"... {more} more"] if more else []),
                "```",
            ]
    return lines


def _same_bytes(item: Compared) -> bool:
    lowered = item.before.outcome is item.after.outcome is Outcome.FIXED
    return lowered and item.before.pte == item.after.pte


def _does(seen: OneSide) -> str:
    return "lowers" if seen.outcome is Outcome.FIXED else str(seen.outcome)
