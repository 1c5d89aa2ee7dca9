"""Where was it raised, and where was the wrong thing made?"""

from __future__ import annotations

from collections.abc import Sequence

from reducer.core.diagnosis import Answer, Explanation
from reducer.core.finding import Evidence
from reducer.core.signature import raise_site
from reducer.diagnose.wording import called, place

NAME = "raise_site"


def answer(explanation: Explanation, certificate: Sequence[Evidence] = ()) -> Answer | None:
    """The innermost frame in a library that raised, beside the nearest one that made the wrong thing."""
    failure, made = explanation.failure, explanation.created_in
    if failure is None:
        return None
    cause = failure.chain[-1]
    text = f"Raised in {raise_site(cause)}"
    if made is not None:
        text += f"; what is wrong was made in {place(made)}"
    facts = [f"cause: {failure.cause}"]
    if len(failure.chain) > 1:
        facts.append(f"seen by the user: {failure.headline}")
    if explanation.raised is not None:
        facts.append(f"inside pass {called(explanation, explanation.runs[explanation.raised])}")
    elif explanation.named:
        facts.append(f"outside every pass, after {explanation.named} had returned")
    return Answer(NAME, f"{text}.", tuple(facts))
