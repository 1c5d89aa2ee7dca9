"""What does a person read when a run is over?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from reducer.cli.render.diagnosis import brief
from reducer.cli.render.words import count, duration, printable, shown_path
from reducer.core.errors import ExitCode
from reducer.core.finding import Ledger
from reducer.core.signature import named_pass
from reducer.workflows.outcome import Outcome

_WIDTH = 10


def summary(outcome: Outcome) -> str:
    """Before and after, the failure, calls by verdict, time, paths, and the repro's core lines."""
    finding = outcome.finding
    rows = [headline(outcome), "", *_rows(outcome)]
    if others := [f"{slip.headline} ({outcome.folder.root / slip.path})" for slip in finding.slips]:
        rows += ["", f"{count(len(others), 'other failure')} met on the way, not followed:"]
        rows += [f"  {text}" for text in others]
    if core := core_lines(_text(outcome.folder.repro)):
        rows += ["", core]
    if finding.diagnosis:
        rows += ["", brief(finding.diagnosis)]
    return printable("\n".join(rows))


def headline(outcome: Outcome) -> str:
    """The result in one sentence."""
    before = outcome.finding.operators_before
    size = f"{count(before, outcome.finding.case.unit)} -> {outcome.finding.case.operators}"
    said = f"; {outcome.message}" if outcome.message else ""
    if outcome.code is ExitCode.REDUCED:
        return f"reduced: {size}, confirmed in a clean process{said}"
    return f"{outcome.finding.status}: {size}{said}"


def table(outcomes: Sequence[Outcome]) -> str:
    """All failures of a model, a line each."""
    rows = [f"{count(len(outcomes), 'failure')} of the model:"]
    for outcome in outcomes:
        finding = outcome.finding
        size = f"{finding.operators_before} -> {finding.case.operators}"
        rows.append(
            f"  {size:<12}{finding.status:<13}{finding.failure.stage:<15}"
            f"{shown_path(outcome.folder.root)}: {finding.failure.cause}"
        )
    return printable("\n".join(rows))


def core_lines(script: str) -> str:
    """The part of a repro from ``class Repro`` to the lowering call.

    >>> core_lines("import sys\\nclass Repro:\\n    x = 1\\ndef lower():\\n    go()\\nY = 1\\n")
    'class Repro:\\n    x = 1\\ndef lower():\\n    go()'
    """
    pattern = (
        r"^(?:class|def|model =)(?! is_recorded).*?^def (?:lower|forward|quantize|export)\(.*?"
        r"(?=^(?!def run\()\S|\Z)"
    )
    found = re.search(pattern, script, re.DOTALL | re.MULTILINE)
    return found[0].rstrip() if found else ""


def _rows(outcome: Outcome) -> Iterator[str]:
    finding, folder = outcome.finding, outcome.folder
    failure = finding.failure
    with_what = "" if finding.case.source else f" ({finding.case.recipe.backend})"
    yield _row("stage", f"{failure.stage}{with_what}")
    yield _row("observed", failure.headline)
    if blamed := named_pass(failure):
        yield _row("names", blamed)
    if len(failure.chain) > 1:
        yield _row("cause", failure.cause)
    yield _row("calls", _calls(finding.ledger))
    if told := "; ".join(_search(finding.ledger, finding.operators_before)):
        yield _row("search", told)
    yield _row("time", _time(outcome))
    for note in finding.notes:
        yield _row("note", note)
    yield _row("script", shown_path(folder.repro))
    data = folder.repro.with_suffix(".safetensors")
    if data.exists():
        yield _row("data", f"{shown_path(data)} (its values matter: keep it beside the script)")
    yield from _pass_rows(outcome)
    if folder.test.exists():
        yield _row("test", shown_path(folder.test))
    yield _row("record", shown_path(folder.finding))
    if folder.report.exists():
        yield _row("report", f"{shown_path(folder.report)} (ready for ExecuTorch's bug form)")


def _pass_rows(outcome: Outcome) -> Iterator[str]:
    """The script of one pass, or why there is none."""
    level = outcome.finding.pass_level
    if level is not None and level.shown:
        yield _row("pass", shown_path(outcome.folder.pass_repro))
    elif level is not None:
        yield _row("pass", f"cannot be shown with one pass alone: {level.reason}")


def _calls(ledger: Ledger) -> str:
    """Paid calls, and what was answered: repeated questions and refusals cost no call."""
    kinds = ", ".join(f"{number} {verdict}" for verdict, number in ledger.verdicts)
    asked = sum(number for _, number in ledger.verdicts)
    earlier = f" ({ledger.resumed} by earlier runs)" if ledger.resumed else ""
    told = f"{ledger.calls} paid{earlier}, {count(asked, 'verdict')}"
    return f"{told}: {kinds}" if kinds else told


def _search(ledger: Ledger, before: int) -> Iterator[str]:
    """How far from the fewest calls, how soon something smaller was found, and what cost no call."""
    if ledger.bound:
        yield f"bound {count(ledger.bound, 'call')}"
    if first := ledger.first_smaller(before):
        yield f"smaller after {count(first, 'call')}"
    if ledger.abandoned:
        yield f"{ledger.abandoned} more begun in vain"
    if ledger.gates:
        refused = ", ".join(f"{number} {gate}" for gate, number in ledger.gates)
        yield f"{sum(number for _, number in ledger.gates)} candidates cost none: {refused}"


def _time(outcome: Outcome) -> str:
    spent = sorted(outcome.seconds.items(), key=lambda item: -item[1])
    parts = ", ".join(f"{name} {duration(seconds)}" for name, seconds in spent)
    return f"{duration(sum(outcome.seconds.values()))} ({parts})"


def _row(name: str, text: str) -> str:
    return f"  {name:<{_WIDTH}}{text}"


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
