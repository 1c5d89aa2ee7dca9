"""Which partition failed, and why was it formed: which neighbours did the partitioner refuse?"""

from __future__ import annotations

from collections.abc import Sequence

from reducer.core.diagnosis import Answer, Explanation
from reducer.core.finding import Evidence
from reducer.diagnose.wording import counted, listed

NAME = "partition"


def answer(explanation: Explanation, certificate: Sequence[Evidence] = ()) -> Answer | None:
    """The failing delegate's program: its operators, its inputs, and what it ends at."""
    facts = explanation.partition
    if facts is None:
        return None
    user, stored, constants = facts.inputs
    text = (
        f"It happens in the program of delegate {facts.number} ({facts.backend}):"
        f" {counted(len(facts.operators), 'operator')}, {counted(user, 'user input')},"
        f" {counted(stored, 'parameter or buffer', 'parameters and buffers')},"
        f" {counted(constants, 'constant')}."
    )
    told = [f"operators: {listed(list(dict.fromkeys(facts.operators)))}"]
    if facts.nodes:
        told.append(f"from {listed(facts.nodes)} of the exported program")
    for refusal in facts.refused:
        reason = refusal.reason or "no reason logged"
        told.append(f"ends at {refusal.target} ({refusal.node}), left out: {reason}")
    return Answer(NAME, text, tuple(told))
