"""Which fake modes do the values belong to, and which code opened them?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from reducer.core.diagnosis import Answer, Census, Explanation
from reducer.core.finding import Evidence
from reducer.diagnose.wording import counted, listed, place

NAME = "fake_modes"


def answer(explanation: Explanation, certificate: Sequence[Evidence] = ()) -> Answer | None:
    """The census in words, if there is more than one mode."""
    census = explanation.census
    if census is None or len(census.modes) < 2:
        return None
    letters = " and ".join(mode.letter for mode in census.modes)
    counts = " + ".join(str(mode.values) for mode in census.modes)
    text = f"Values belong to {len(census.modes)} fake modes, {letters}: {counts}."
    return Answer(NAME, text, (*_created(census), *_extracted(explanation), *_members(census)))


def _created(census: Census) -> list[str]:
    told = []
    for mode in census.modes:
        frames = [place(frame) for frame in mode.created[:2]]
        where = ", called from ".join(frames) if frames else "torch did not record where"
        told.append(f"mode {mode.letter}: {counted(mode.values, 'value')}, created in {where}")
    return told


def _extracted(explanation: Explanation) -> list[str]:
    """How the retrace that opened the mode took its inputs."""
    if explanation.culprit is None:
        return []
    took = explanation.runs[explanation.culprit].extraction
    if took is None:
        return []
    other = f", {took.other} neither" if took.other else ""
    whole = took.real + took.fake + took.other
    return [
        f"of {counted(whole, 'placeholder')} {took.real} taken as real tensors, {took.fake} as fake{other}"
    ]


def _members(census: Census) -> list[str]:
    told = []
    for mode in census.modes:
        own = [node for node in census.nodes if mode.letter in node.modes.split(",")]
        inputs = [node for node in own if node.op == "placeholder"]
        calls = Counter(node.target for node in own if node.op == "call_function")
        if inputs:
            constants = sum(node.constant for node in inputs)
            names = listed([node.name for node in inputs])
            told.append(
                f"{mode.letter}: {counted(len(inputs), 'placeholder')}, {constants} with"
                f" .constant ({names})"
            )
        if calls:
            shown = [f"{name} x{n}" if n > 1 else name for name, n in calls.items()]
            output = ", and the output" if any(node.op == "output" for node in own) else ""
            number = counted(sum(calls.values()), "call")
            told.append(f"{mode.letter}: {number} ({listed(shown)}){output}")
    return told
