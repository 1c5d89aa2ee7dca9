"""What does a program read when a run is over? One JSON object with the same keys each time."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from reducer.cli.ending import Ending
from reducer.cli.render.progress import Progress
from reducer.core.errors import ExitCode
from reducer.core.finding import PassLevel
from reducer.core.signature import Signature

if TYPE_CHECKING:  # the import costs all of the workflow, and an error is told without it
    from reducer.workflows.outcome import Outcome

_EMPTY: dict[str, Any] = {
    "subject": "",
    "status": "",
    "exit_code": int(ExitCode.INTERNAL),
    "message": "",
    "hint": "",
    "stage": None,
    "backend": None,
    "signature": None,
    "observed": None,
    "cause": None,
    "operators": {"before": None, "after": None},
    "calls": 0,
    "calls_resumed": 0,
    "calls_bound": None,
    "refused": {},
    "verdicts": {},
    "seconds": {},
    "paths": {},
    "pass_alone": None,
    "corpus_entry": None,
    "other_failures": [],
    "notes": [],
    "further": [],
}


def outcome_document(subject: str, outcome: Outcome) -> dict[str, Any]:
    """A run that ended with a case."""
    finding, folder = outcome.finding, outcome.folder
    return {
        **_EMPTY,
        "subject": subject,
        "status": finding.status,
        "exit_code": int(outcome.code),
        "message": outcome.message,
        "stage": str(finding.failure.stage),
        "backend": finding.case.recipe.backend,
        "signature": _signature(finding.signature),
        "observed": finding.failure.headline,
        "cause": finding.failure.cause,
        "operators": {"before": finding.operators_before, "after": finding.case.operators},
        "calls": finding.ledger.calls,
        "calls_resumed": finding.ledger.resumed,
        "calls_bound": finding.ledger.bound or None,
        "refused": dict(finding.ledger.gates),
        "verdicts": dict(finding.ledger.verdicts),
        "seconds": {name: round(seconds, 3) for name, seconds in outcome.seconds.items()},
        "paths": {
            "folder": str(folder.root),
            "repro": str(folder.repro),
            **({"pass_repro": str(folder.pass_repro)} if folder.pass_repro.exists() else {}),
            **({"test": str(folder.test)} if folder.test.exists() else {}),
            "finding": str(folder.finding),
            "report": str(folder.report),
            "log": str(folder.log),
        },
        "pass_alone": _pass_alone(finding.pass_level),
        "other_failures": [
            {"observed": slip.headline, "stage": str(slip.signature.stage),
             "operators": slip.operators, "path": str(folder.root / slip.path)}
            for slip in finding.slips
        ],
        "notes": list(finding.notes),
        "further": [outcome_document(subject, further) for further in outcome.further],
    }  # fmt: skip


def ending_document(subject: str, ending: Ending, progress: Progress) -> dict[str, Any]:
    """A run that ended without one; what was known by then is filled in."""
    document = {
        **_EMPTY,
        "subject": subject,
        "status": ending.status,
        "exit_code": int(ending.code),
        "message": ending.message,
        "hint": ending.hint,
        "calls": progress.calls,
    }
    if progress.output is not None and progress.output.exists():
        document["paths"] = {"folder": str(progress.output)}
        if progress.repro is not None:
            document["paths"]["repro"] = str(progress.repro)
    if (captured := progress.captured) is not None:
        document |= {
            "stage": str(captured.stage),
            "backend": captured.backend,
            "signature": _signature(captured.signature),
            "observed": captured.failure.headline,
            "cause": captured.failure.cause,
            "operators": {"before": captured.operators, "after": progress.operators},
            "notes": list(captured.notes),
        }
    return document


def _pass_alone(level: PassLevel | None) -> dict[str, Any] | None:
    """Whether one pass alone shows the failure, which one, with how many operators; or why not."""
    if level is None:
        return None
    call = level.case.recipe.alone if level.case else None
    return {
        "shown": level.shown,
        "pass": call.construct.path if call else None,
        "oracle": level.oracle or None,
        "operators": level.case.operators if level.case else None,
        "reason": level.reason,
    }


def _signature(signature: Signature) -> dict[str, Any]:
    return {**asdict(signature), "stage": str(signature.stage), "types": list(signature.types)}
