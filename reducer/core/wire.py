"""What crosses the pipe between the search and the worker that lowers?

The parent sends a :class:`Job`, the worker answers with a :class:`Reply`. Both are lines of JSON
in the form of :mod:`reducer.core.text`, so the two ends may be different interpreters.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from reducer.core.case import Case, Spec
from reducer.core.diagnosis import Explanation
from reducer.core.property import Property
from reducer.core.recipe import Construct, Plain
from reducer.core.signature import Failure
from reducer.core.stage import Stage
from reducer.core.text import register


@register
@dataclass(frozen=True)
class Limits:
    """What one call may use: wall seconds, bytes of resident memory (0: no limit).

    ``still``: seconds for which its stack may stay the very same (0: no limit).
    """

    seconds: float = 600.0
    memory: int = 0
    still: float = 0.0


@register
@dataclass(frozen=True)
class CaptureJob:
    """Run what the user handed in, and return it as a case with its first failure.

    ``subject`` is a path, or ``package.module:attribute``. ``backend`` None means: as the subject
    says. ``options`` go to the partitioner's constructor. ``data_dir`` receives tensors. ``argv`` is
    what a script finds in ``sys.argv[1:]``. ``oracle`` as in :class:`JudgeJob`. ``rtol``, ``atol``
    and ``asked`` as in :class:`~reducer.core.recipe.Recipe`. ``watch``: the lowering is
    watched for these invariants (all if empty) and the capture has an explanation.
    """

    subject: str
    data_dir: str
    backend: str | None = None
    options: tuple[tuple[str, Plain], ...] = ()
    argv: tuple[str, ...] = ()
    oracle: str = ""
    rtol: float | None = None
    atol: float | None = None
    watch: tuple[str, ...] | None = None
    asked: Property | None = None


@register
@dataclass(frozen=True)
class JudgeJob:
    """Rebuild a case, export it, lower it up to its recipe's last stage; or run its recipe's one pass.

    ``oracle`` "": it fails if lowering raises. With the name of an invariant it fails if that does
    not hold after some compiler pass.
    """

    case: Case
    data_dir: str
    oracle: str = ""


@register
@dataclass(frozen=True)
class ExplainJob:
    """Lower a case and watch every compiler pass on the way: after each, do these invariants hold?"""

    case: Case
    data_dir: str
    invariants: tuple[str, ...] = ()


@register
@dataclass(frozen=True)
class PassGraphJob:
    """Lower a case up to a run of a pass (its index among those that an ExplainJob sees).

    The answer is the graph that the pass was given (a :class:`PassGraph`).
    """

    case: Case
    data_dir: str
    run: int


@register
@dataclass(frozen=True)
class SpellJob:
    """Export ``Repro`` of a generated module source, and say which operators it gives.

    ``source`` defines ``Repro``, ``example_inputs`` and, if needed, ``dynamic_shapes``. ``data_dir``
    holds the user's modules that it may import.
    """

    source: str
    data_dir: str = ""


@register
@dataclass(frozen=True)
class RebuildJob:
    """Rebuild a case and export it, and say which operators that gives (a :class:`Spelled`)."""

    case: Case
    data_dir: str


@register
@dataclass(frozen=True)
class BackendsJob:
    """List backends: usable here or not, and why. ``few``: only those that take no time to ask."""

    few: bool = False


@register
@dataclass(frozen=True)
class ModelJob:
    """Lower a healthy model (see :mod:`reducer.core.healthy`) for a backend, and once more, watched."""

    model: str
    backend: str


@register
@dataclass(frozen=True)
class DifferenceJob:
    """Say in which way two ``.pte`` files differ."""

    before: bytes
    after: bytes


@register
@dataclass(frozen=True)
class VersionsJob:
    """Say what the worker runs on, as ``torch.utils.collect_env`` does."""


Job = (
    CaptureJob | JudgeJob | ExplainJob | PassGraphJob | SpellJob | RebuildJob | BackendsJob | ModelJob
    | DifferenceJob | VersionsJob
)  # fmt: skip


@register
@dataclass(frozen=True)
class Attempt:
    """What happened when a program was lowered.

    ``failure`` None and ``invalid`` "" means that it passes; ``gate`` says what found it invalid (see
    :class:`~reducer.core.finding.Ledger`). ``partition`` and ``suspects`` name
    values of the case: the nodes in the failing delegate's program, and the nodes that the code which
    raised was looking at. ``seconds`` is per stage. ``specs`` are shapes and dtypes of a small case's calls,
    as export found them. ``unchecked`` says why the ``.pte`` was not run, where it should have been.
    ``parts``, where there is no graph yet, are smaller sources that seem to be at fault, best first.
    """

    failure: Failure | None = None
    invalid: str = ""
    partition: tuple[str, ...] = ()
    suspects: tuple[str, ...] = ()
    seconds: tuple[tuple[str, float], ...] = ()
    specs: tuple[tuple[str, Spec], ...] = ()
    unchecked: str = ""
    parts: tuple[str, ...] = ()
    gate: str = ""


@register
@dataclass(frozen=True)
class Capture:
    """What the user handed in, as a case, with what its first lowering did.

    ``case`` None: it failed before there was a graph (``attempt.failure`` says where). ``files``
    are the user's files that were loaded, with their digests: while these are equal, capturing again
    gives the same. ``notes`` are remarks for the user: options that could not be expressed, and the
    like. ``form`` says what the subject was found to be. ``words`` are names in the user's code.
    ``explanation`` is what was seen if that lowering was watched.
    """

    case: Case | None
    attempt: Attempt
    form: str = ""
    files: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    explanation: Explanation | None = None


@register
@dataclass(frozen=True)
class PassGraph:
    """A graph in the middle of lowering, as a case of its own whose recipe does not say yet which pass
    is run on it. None: ``reason`` says why."""

    case: Case | None = None
    reason: str = ""


@register
@dataclass(frozen=True)
class Spelled:
    """Targets of the operator calls that a generated source exports to, in order; or why it does not."""

    targets: tuple[str, ...] = ()
    error: str = ""


@register
@dataclass(frozen=True)
class BackendStatus:
    """One line of ``reduce backends``. ``reason`` says why not, and what would make it usable."""

    name: str
    usable: bool
    reason: str = ""
    partitioner: Construct | None = None


@register
@dataclass(frozen=True)
class Backends:
    """Answer to :class:`BackendsJob`."""

    rows: tuple[BackendStatus, ...] = ()


@register
@dataclass(frozen=True)
class Lowered:
    """What a healthy model gave: the ``.pte``, and what was seen on the way to one; or how it failed."""

    failure: Failure | None = None
    pte: bytes = b""
    explanation: Explanation | None = None


@register
@dataclass(frozen=True)
class Difference:
    """Answer to :class:`DifferenceJob`, line by line; () if nothing can be said."""

    lines: tuple[str, ...] = ()


@register
@dataclass(frozen=True)
class VersionLines:
    """Answer to :class:`VersionsJob`, line by line."""

    lines: tuple[str, ...] = ()


@register
@dataclass(frozen=True)
class Refused:
    """The job could not be done, and it is the user's input: message and hint."""

    message: str
    hint: str = ""
    exit_code: int = 2


@register
@dataclass(frozen=True)
class Death:
    """The child that did the job died, or was killed.

    ``kind`` is ``timeout``, ``memory``, ``signal`` or ``exit``; ``detail`` e.g. ``SIGSEGV`` or an exit
    code; ``stage`` the last stage it entered; ``output`` the tail of what it printed. ``failure`` is
    the same as a failure, None if no stage was entered. ``captured`` is what a capture knew by then.
    ``seconds`` is per stage that was finished.
    """

    kind: str
    detail: str = ""
    stage: Stage | None = None
    output: str = ""
    failure: Failure | None = None
    captured: Capture | None = None
    seconds: tuple[tuple[str, float], ...] = ()


@register
@dataclass(frozen=True)
class Broken:
    """A bug in the worker's own code: its traceback."""

    traceback: str


Result = (
    Capture | Attempt | Explanation | PassGraph | Spelled | Backends | Lowered | Difference
    | VersionLines | Refused | Death | Broken
)  # fmt: skip


@register
@dataclass(frozen=True)
class Environment:
    """What the worker runs on; part of the verdict store's keys."""

    python: str = ""
    torch: str = ""
    executorch: str = ""
    platform: str = ""
    accelerations: tuple[tuple[str, str], ...] = field(default=())
