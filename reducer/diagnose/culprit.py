"""Which pass broke the program, and which one does the error name?"""

from __future__ import annotations

from collections.abc import Sequence

from reducer.core.diagnosis import Answer, Explanation, Violation
from reducer.core.finding import Evidence
from reducer.diagnose.wording import called, counted

NAME = "culprit"


def answer(explanation: Explanation, certificate: Sequence[Evidence] = ()) -> Answer | None:
    """The first run after which an invariant fails, beside the pass that is blamed."""
    if not explanation.runs:
        return None
    named = f"The error names {explanation.named}. " if explanation.named else ""
    facts = [f"the input already has: {_told(item)}" for item in explanation.input_violations]
    if explanation.culprit is None or explanation.broken is None:
        if explanation.raised is None:
            text = f"{named}No pass broke an invariant that was watched."
        else:
            who = called(explanation, explanation.runs[explanation.raised])
            text = f"{named}No invariant fails before {who} raises."
        return Answer(NAME, text, (*facts, _watched(explanation)))
    run = explanation.runs[explanation.culprit]
    text = (
        f"{named}The first pass after which an invariant fails is {called(explanation, run)}:"
        f" {explanation.broken.what}."
    )
    facts += [f"{item.invariant}: {_told(item)}" for item in run.violations[:5]]
    facts.append(f"its code is {run.function}, in stage {run.stage}")
    if run.arguments:
        facts.append(f"it was constructed with ({', '.join(run.arguments)})")
    skipped = [f"{name} was not asked: {why}" for name, why in run.skipped]
    return Answer(NAME, text, (*facts, *skipped, _watched(explanation)))


def _told(violation: Violation) -> str:
    at = f" at {violation.node}" if violation.node else ""
    return f"{violation.what}{at}" + (f" ({violation.detail})" if violation.detail else "")


def _watched(explanation: Explanation) -> str:
    runs = counted(len(explanation.runs), "pass run")
    return f"{runs} watched for {', '.join(explanation.invariants) or 'nothing'}"
