"""What was seen while compiler passes ran, and what does it mean?

:class:`Explanation` is what the worker saw: plain facts. :class:`Diagnosis` is what follows from
them, in words; the folder ``diagnose`` makes one from the other.
"""

from __future__ import annotations

from dataclasses import dataclass

from reducer.core.recipe import Construct
from reducer.core.signature import Failure, Frame
from reducer.core.stage import Stage
from reducer.core.text import register


@register
@dataclass(frozen=True)
class Violation:
    """One thing that should hold of a program between two passes, and does not.

    ``what`` says it without names, shapes or numbers, so that it is the same in a smaller program;
    ``node`` and ``detail`` say which and how.
    """

    invariant: str
    what: str
    node: str = ""
    detail: str = ""


@register
@dataclass(frozen=True)
class Extraction:
    """How a retrace took its inputs from the placeholders: as real tensors, fake ones, other values.

    ``dispatcher``: whether it then ran under the Python dispatcher, which decomposes operators; None if
    it did not come so far.
    """

    real: int = 0
    fake: int = 0
    other: int = 0
    dispatcher: bool | None = None


@register
@dataclass(frozen=True)
class PassRun:
    """One run of one compiler pass.

    ``name`` and ``module`` are those of its class (or of the function that is the pass);
    ``function`` is ``module:qualified.name`` of the code that ran, which a base class may own.
    ``arguments`` are the constructor's as text, ``construct`` the call if it can be written down;
    ``takes`` is what it was called with, as in :class:`~reducer.core.recipe.PassCall`; ``more`` if
    that was not all.
    ``parent`` is the index of the run that this one was nested in; ``nth`` counts the runs of the
    same pass object, from 1. ``delegate`` numbers the delegate's program that was being compiled,
    None for the whole program. ``before`` and ``after`` are digests of the graph. ``violations`` are
    those that neither the input had nor a nested run caused; ``inherited`` those the input had.
    ``skipped`` are (invariant, why it could not be asked). ``error`` is a headline if it raised.
    """

    index: int
    name: str
    module: str
    function: str
    stage: Stage
    arguments: tuple[str, ...] = ()
    construct: Construct | None = None
    takes: str = "graph"
    parent: int | None = None
    nth: int = 1
    delegate: int | None = None
    seconds: float = 0.0
    before: str = ""
    after: str = ""
    violations: tuple[Violation, ...] = ()
    inherited: tuple[Violation, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    extraction: Extraction | None = None
    error: str = ""


@register
@dataclass(frozen=True)
class FakeMode:
    """One ``FakeTensorMode``: its letter, how many values are its, where it was created.

    ``created`` are the frames that led to its creation, innermost first, torch's own constructors
    left out; empty if torch did not record them.
    """

    letter: str
    values: int
    created: tuple[Frame, ...] = ()


@register
@dataclass(frozen=True)
class CensusNode:
    """One node: ``op`` as in FX, ``modes`` the letters of its values' modes ("" without fake ones).

    ``constant``: it is a placeholder whose fake value carries the real tensor.
    """

    name: str
    op: str
    target: str
    modes: str = ""
    constant: bool = False


@register
@dataclass(frozen=True)
class Census:
    """Which fake mode does each value of a graph belong to? ``run``: the pass run after which."""

    modes: tuple[FakeMode, ...]
    nodes: tuple[CensusNode, ...]
    run: int | None = None


@register
@dataclass(frozen=True)
class Refusal:
    """A node that a partitioner left out, with the reason that it logged ("" if none)."""

    node: str
    target: str
    reason: str = ""


@register
@dataclass(frozen=True)
class PartitionFacts:
    """One delegate's program: ``nodes`` (in names of the exported program) with their operators.

    ``number`` counts from 0, ``count`` is how many there are; ``inputs`` is (user inputs, parameters
    and buffers, constants). ``refused`` are the neighbours that the partitioner left out.
    """

    backend: str
    number: int
    count: int
    nodes: tuple[str, ...]
    operators: tuple[str, ...]
    inputs: tuple[int, int, int] = (0, 0, 0)
    refused: tuple[Refusal, ...] = ()


@register
@dataclass(frozen=True)
class Explanation:
    """What happened on the way through the compiler.

    ``failure`` None and ``invalid`` "": it lowers. ``runs`` in the order in which they began.
    ``culprit`` is the index of the first run after which an invariant fails, ``broken`` what fails
    then; ``raised`` of the innermost run that raised; ``named`` the pass that the error names.
    ``input_violations`` held before any pass ran: the input's fault. ``created_in`` is the nearest
    frame in a library that made the wrong thing. ``invariants`` are those that were watched.
    """

    failure: Failure | None = None
    invalid: str = ""
    runs: tuple[PassRun, ...] = ()
    culprit: int | None = None
    broken: Violation | None = None
    raised: int | None = None
    named: str = ""
    input_violations: tuple[Violation, ...] = ()
    created_in: Frame | None = None
    census: Census | None = None
    partition: PartitionFacts | None = None
    invariants: tuple[str, ...] = ()
    seconds: tuple[tuple[str, float], ...] = ()


@register
@dataclass(frozen=True)
class Answer:
    """One question of a diagnosis: ``name`` as its file, the answer in a sentence, facts below it."""

    name: str
    text: str
    facts: tuple[str, ...] = ()


@register
@dataclass(frozen=True)
class Diagnosis:
    """What really broke: one sentence, the answers it is made of, and the facts behind them.

    ``title`` is what the bug may be called, "" where no pass was found at fault.
    """

    summary: str
    answers: tuple[Answer, ...]
    explanation: Explanation
    title: str = ""

    def answer(self, name: str) -> Answer | None:
        """The answer to the question called ``name``, if it could be asked."""
        return next((item for item in self.answers if item.name == name), None)


#: What should hold after each pass, by name, those first that later code trips over most directly.
#: The checks are in ``lowering/watch/invariants``; the worker has no say in how they are called.
INVARIANTS = ("one-fake-mode", "metadata", "well-formed", "same-numbers", "shared-state")
