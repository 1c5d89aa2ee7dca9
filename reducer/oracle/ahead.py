"""What may be asked next? Begun while the answer to the current question is awaited.

A second core would idle else. Which questions are asked, and in which order their answers are used, does
not depend on it: so a search ends with the same result, however many jobs run at a time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from reducer.core.wire import Job, Limits
from reducer.oracle.worker import Answer, Worker


@dataclass(frozen=True)
class Question:
    """A job under the key by which its answer is stored."""

    key: str
    job: Job
    limits: Limits


@dataclass
class Ahead:
    """Up to ``spare`` jobs that run beside the one that is waited for.

    ``abandoned`` is how many were begun for nothing.
    """

    worker: Worker
    spare: int = 0
    abandoned: int = 0
    _begun: dict[str, int] = field(default_factory=dict)

    def answer(self, question: Question, then: Iterable[Question] = ()) -> Answer:
        """The answer to a question; meanwhile the first of those that may come next are begun.

        Raises WorkerDied.
        """
        number = self._begun.pop(question.key, None)
        if number is None:
            self.forget()  # the search went another way
            number = self.worker.submit(question.job, question.limits)
        self.begin(then)
        return self.worker.wait(number)

    def begin(self, questions: Iterable[Question]) -> None:
        """Begin the first of them, as many as there is room for."""
        if len(self._begun) >= self.spare:
            return
        for question in questions:
            if question.key not in self._begun:
                self._begun[question.key] = self.worker.submit(question.job, question.limits)
            if len(self._begun) >= self.spare:
                return

    def forget(self) -> None:
        """End what was begun and not asked for."""
        for number in self._begun.values():
            self.worker.cancel(number)
            self.worker.wait(number)
        self.abandoned += len(self._begun)
        self._begun.clear()
