"""What is the bug called, in a line that its maintainer recognises?"""

from __future__ import annotations

from reducer.core.diagnosis import Explanation, PassRun
from reducer.diagnose.wording import outermost


def title(explanation: Explanation) -> str:
    """The pass at fault and what it does, beside the pass that the error names; "" if none is."""
    broken = explanation.broken
    if explanation.culprit is None or broken is None:
        return ""
    run = explanation.runs[explanation.culprit]
    if broken.invariant == "one-fake-mode":
        text = f"{run.name} opens a second FakeTensorMode{_occasion(run)}"
    else:
        text = f"after {run.name}, {broken.what}"
    blamed = explanation.named
    if blamed and blamed != run.name:
        return f"{text} (error names {blamed})"
    outer = outermost(explanation, run)
    return text if outer.name == run.name else f"{text} (in {outer.name})"


def _occasion(run: PassRun) -> str:
    took = run.extraction
    if took is None or took.fake:
        return ""
    return " if every placeholder carries a .constant" if took.real else " if no input is a tensor"
