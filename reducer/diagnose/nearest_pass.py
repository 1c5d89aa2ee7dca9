"""Which single change makes it pass?"""

from __future__ import annotations

from collections.abc import Sequence

from reducer.core.diagnosis import Answer, Explanation
from reducer.core.finding import Evidence
from reducer.core.verdict import Verdict
from reducer.diagnose.wording import counted

NAME = "nearest_pass"


def answer(explanation: Explanation, certificate: Sequence[Evidence] = ()) -> Answer | None:
    """The neighbours of the smallest case that lower, from the certificate of its reduction."""
    if not certificate:
        return None
    passing = [item for item in certificate if item.verdict is Verdict.PASSES]
    if not passing:
        return Answer(NAME, "No single change that was tried makes it pass.")
    facts = tuple(dict.fromkeys(changed(item) for item in passing))
    changes = counted(len(facts), "single change makes it pass", "single changes make it pass")
    return Answer(NAME, f"{changes}; the first is {facts[0]}.", facts)


def changed(evidence: Evidence) -> str:
    """The change in words, without the name of its kind.

    >>> changed(Evidence("mul", "bypass-nodes: x in place of mul", Verdict.PASSES))
    'x in place of mul'
    """
    return evidence.delta.partition(": ")[2] or evidence.delta
