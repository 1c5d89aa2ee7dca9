"""What does the report say of the cause? The diagnosis, beside what the error says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from reducer.core.diagnosis import Census, Diagnosis, Explanation, FakeMode, PassRun
from reducer.core.finding import Finding
from reducer.core.signature import Frame, named_pass, raise_site
from reducer.emit.markdown import MOST_ROWS, code, prose, row

#: Modes of the census, and passes around a pass, at most.
_MODES = 4


def summary(finding: Finding, diagnosis: Diagnosis | None) -> str:
    """The pass that broke the program, or where it raises."""
    if diagnosis is None:
        return f"Raised in {code(raise_site(finding.failure.chain[-1]))}; not diagnosed further."
    seen = diagnosis.explanation
    if seen.failure is None or seen.culprit is not None or seen.input_violations or seen.invalid:
        return prose(diagnosis.summary)
    site = code(raise_site(seen.failure.chain[-1]))
    inside = f", in {_run(seen, seen.runs[seen.raised])}" if seen.raised is not None else ""
    return (
        f"{site} raises{inside}. No compiler pass broke the program before that: {len(seen.runs)} pass"
        f" runs were watched for {', '.join(seen.invariants)}."
    )


def beside(finding: Finding, explanation: Explanation) -> list[tuple[str, str, str]]:
    """What the error says beside what was found, where the two differ."""
    if explanation.culprit is None or explanation.broken is None or finding.oracle:
        return []
    run, cause = explanation.runs[explanation.culprit], finding.failure.chain[-1]
    named = named_pass(finding.failure) or explanation.named
    made = explanation.created_in
    first = finding.failure.cause.partition(": ")[2]
    broken = explanation.broken
    at = f" (first at {code(broken.node)})" if broken.node else ""
    return [
        ("pass", code(named) or "none", _run(explanation, run)),
        ("place", code(raise_site(cause)), _place(made) if made else code(run.function)),
        ("what is wrong", prose(first, limit=300), prose(broken.what, limit=300) + at),
    ]


def _run(explanation: Explanation, run: PassRun) -> str:
    """A pass with the ones that called it."""
    names = [code(run.name)]
    while run.parent is not None:
        run = explanation.runs[run.parent]
        names.append(code(run.name))
    return ", called by ".join(list(dict.fromkeys(names))[:_MODES])


def _place(frame: Frame) -> str:
    return code(f"{frame.module}:{frame.function}") + (f" line {frame.line}" if frame.line else "")


def census_of(explanation: Explanation) -> str:
    """When the census was taken, and how the pass took its placeholders."""
    number = explanation.census.run if explanation.census else None
    after = f" after {_run(explanation, explanation.runs[number])}" if number is not None else ""
    culprit = explanation.culprit
    took = explanation.runs[culprit].extraction if culprit is not None else None
    taken = ""
    if took is not None:
        every = took.real + took.fake + took.other
        whole = f"{every} placeholder{'' if every == 1 else 's'}"
        taken = f" (of {whole} it took {took.real} as real tensors, {took.fake} as fake)"
    return f"Fake modes{after}{taken}:"


def census(found: Census) -> list[tuple[str, ...]]:
    """A row for each fake mode."""
    return [_mode(found, mode) for mode in found.modes[:_MODES]]


def _mode(census: Census, mode: FakeMode) -> tuple[str, ...]:
    own = [node for node in census.nodes if mode.letter in node.modes.split(",")]
    inputs = [node for node in own if node.op == "placeholder"]
    calls = Counter(node.target for node in own if node.op == "call_function")
    where = " from ".join(_place(frame) for frame in mode.created[:2])
    names = row([code(node.name) for node in inputs])
    held = sum(node.constant for node in inputs)
    constants = f" ({held} of {len(inputs)} with `.constant`)" if held else ""
    return (
        mode.letter,
        str(mode.values),
        where or "not recorded",
        f"{names}{constants}",
        row([code(name) for name in calls]),
    )


def further(diagnosis: Diagnosis) -> Iterable[str]:
    """Where it happens, if in a delegate."""
    found = diagnosis.answer("partition")
    if found is None:
        return ()
    ends = [fact for fact in found.facts if fact.startswith("ends at ")]
    return (
        prose(" ".join([found.text, *(f"It {end}." for end in ends[:MOST_ROWS])]), limit=2_000),
    )
