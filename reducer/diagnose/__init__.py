"""What really broke? One file per question, from what the worker saw to words.

A question is a module with ``NAME`` and ``answer(explanation, certificate)``, which gives None where it
does not arise.
"""

from __future__ import annotations

from collections.abc import Sequence

from reducer.core.diagnosis import Diagnosis, Explanation
from reducer.core.finding import Evidence
from reducer.core.signature import Failure
from reducer.diagnose import culprit, fake_modes, nearest_pass, partition, raise_site
from reducer.diagnose.sentence import sentence
from reducer.diagnose.title import title

#: In the order in which they are told.
QUESTIONS = (culprit, fake_modes, raise_site, partition, nearest_pass)


def diagnose(
    explanation: Explanation,
    certificate: Sequence[Evidence] = (),
    failure: Failure | None = None,
) -> Diagnosis:
    """The diagnosis that follows from what was seen, and from the certificate of a reduction.

    ``failure`` is how it fails, be it after lowering.
    """
    asked = (question.answer(explanation, certificate) for question in QUESTIONS)
    answers = tuple(answer for answer in asked if answer is not None)
    said = sentence(explanation, failure)
    return Diagnosis(said, answers, explanation, title(explanation))
