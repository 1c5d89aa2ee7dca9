"""What really broke, in one sentence?"""

from __future__ import annotations

from reducer.core.diagnosis import Explanation, PassRun, Violation
from reducer.core.signature import Failure, raise_site
from reducer.core.stage import Stage
from reducer.diagnose.wording import called, counted, listed, place


def sentence(explanation: Explanation, failure: Failure | None = None) -> str:
    """The pass that the error names, the code that made the wrong thing, and what made it do so.

    ``failure`` is how it fails, be it after lowering.
    """
    if explanation.invalid:
        return f"The program cannot be rebuilt: {explanation.invalid}"
    blamed = f"The error names {explanation.named}, but " if explanation.named else ""
    if explanation.culprit is not None and explanation.broken is not None:
        run = explanation.runs[explanation.culprit]
        if explanation.broken.invariant == "one-fake-mode":
            return _capital(blamed + _modes(explanation, run))
        if _is_named(explanation, run):
            blamed = "The error names the right pass: "
        return _capital(blamed + _broken(explanation, run, explanation.broken))
    if explanation.input_violations:
        first = explanation.input_violations[0]
        return f"The program that was handed in is at fault already: {first.what}."
    if explanation.failure is None:
        after = failure is not None and failure.stage.rank >= Stage.LOAD_PTE.rank
        if failure is None or not after:
            return "It lowers, and no pass breaks what was watched."
        return (
            f"It lowers, and no pass breaks what was watched; what comes of it fails in"
            f" {failure.stage}: {failure.cause}"
        )
    named = f", in {explanation.named}" if explanation.named else ""
    return (
        f"No pass breaks what was watched; {raise_site(explanation.failure.chain[-1])} raises{named}:"
        f" {explanation.failure.cause}"
    )


def _modes(explanation: Explanation, run: PassRun) -> str:
    """Who opened one more fake mode, and which placeholders made it do so."""
    where = place(explanation.created_in) if explanation.created_in else run.function
    who = called(explanation, run)
    text = f"{where} opened another FakeTensorMode when {who} traced a graph"
    took = run.extraction
    if took is None:
        return f"{text}."
    if took.fake == 0 and took.real == 0:
        return f"{text} that has no tensor among its placeholders."
    names = _constants(explanation)
    shown = f" ({listed(names)})" if names else ""
    if took.fake == 0:
        one = took.real == 1
        every = "the only placeholder" if one else f"all {took.real} placeholders"
        real = "a real tensor, since it carries" if one else "real tensors, since they carry"
        return (
            f"{text} of which it takes {every}{shown} as {real} a .constant: no fake input is left"
            " to say which mode the graph has."
        )
    real = counted(took.real, "placeholder")
    return f"{text} of which it takes {real}{shown} as real and {took.fake} as fake."


def _constants(explanation: Explanation) -> list[str]:
    nodes = explanation.census.nodes if explanation.census else ()
    return [node.name for node in nodes if node.constant]


def _broken(explanation: Explanation, run: PassRun, broken: Violation) -> str:
    at = f" at {broken.node}" if broken.node else ""
    detail = f" ({broken.detail})" if broken.detail else ""
    return f"after {called(explanation, run)}, {broken.what}{at}{detail}."


def _is_named(explanation: Explanation, run: PassRun) -> bool:
    return explanation.named == run.name


def _capital(text: str) -> str:
    """A sentence's first letter; a module's name stays as it is."""
    word = text.partition(" ")[0]
    return text if "." in word else text[:1].upper() + text[1:]
