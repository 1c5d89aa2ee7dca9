"""What came out: the smallest case, what it fails with, and the evidence."""

from __future__ import annotations

from dataclasses import dataclass, replace

from reducer.core.case import Case
from reducer.core.diagnosis import Diagnosis
from reducer.core.signature import Failure, MatchRule, Signature, signature_of
from reducer.core.text import register
from reducer.core.verdict import Verdict
from reducer.core.wire import Environment

register(MatchRule)


@register
@dataclass(frozen=True)
class Evidence:
    """One line of the certificate: the verdict seen when ``element`` alone is removed or simplified.

    ``delta`` names the change; ``instead`` what was seen instead of the failure (a headline).
    """

    element: str
    delta: str
    verdict: Verdict
    instead: str = ""


@register
@dataclass(frozen=True)
class Slip:
    """Another failure met on the way, kept as a case of its own. ``path`` is relative to the finding."""

    signature: Signature
    headline: str
    operators: int
    path: str


@register
@dataclass(frozen=True)
class Elsewhere:
    """What the smallest case does on another backend; ``instead`` is a headline if it fails otherwise."""

    backend: str
    verdict: Verdict
    instead: str = ""


@register
@dataclass(frozen=True)
class Ledger:
    """Where calls and seconds went.

    ``calls`` are all paid calls that led here; ``resumed`` of them were paid by earlier runs, ``unique``
    of them were about different cases (the result is run again to see whether it fails each time), and
    ``repeated`` asked what was known; ``abandoned`` is how many more were begun on a second core and
    ended since the search went another way. ``steps`` is (calls by then, operators) of each case that was
    smaller than those before it, the start of the search first.

    ``bound`` is that of :func:`~reducer.search.bound.calls_bound` for ``elements``: those of the first
    case that failed as wanted, and those that remain. 0 where the certificate is not complete.

    ``refused`` counts candidates that the worker refused. ``gates`` is all that was refused without a
    paid call, by gate: *no program* (its edits do not go together), *not simpler*, *seen* (before, in
    this run), then in the worker *rebuild*, *load*, *export* (fake propagation is its first part),
    *recipe* and *run*. ``invalid`` of these were refused only after what fails had begun to run.

    ``verdicts`` counts paid and unpaid verdicts by kind; ``deltas`` is (name, tried, useful), ``paid``
    (name, useful calls, useless calls). ``seconds`` is wall time by activity, ``stages`` the worker's
    by stage of lowering, and ``sequential`` what all calls would take in one worker, one after another.
    """

    calls: int = 0
    resumed: int = 0
    repeated: int = 0
    refused: int = 0
    verdicts: tuple[tuple[str, int], ...] = ()
    deltas: tuple[tuple[str, int, int], ...] = ()
    seconds: tuple[tuple[str, float], ...] = ()
    unique: int = 0
    invalid: int = 0
    gates: tuple[tuple[str, int], ...] = ()
    paid: tuple[tuple[str, int, int], ...] = ()
    stages: tuple[tuple[str, float], ...] = ()
    sequential: float = 0.0
    elements: tuple[int, int] = (0, 0)
    bound: int = 0
    steps: tuple[tuple[int, int], ...] = ()
    abandoned: int = 0

    def first_smaller(self, before: int) -> int | None:
        """Paid calls until a case of fewer than ``before`` operators was found; None if none was."""
        return next((calls for calls, operators in self.steps if operators < before), None)


@register
@dataclass(frozen=True)
class PassLevel:
    """The failure as one compiler pass shows it, on a graph made by hand; or why it cannot be shown.

    ``case`` runs that pass alone (its recipe says which); ``failure`` and ``oracle`` are as in a
    :class:`Finding`. ``status`` is ``confirmed`` once the script failed with the same signature in a
    clean process. Without a case, or unconfirmed, ``reason`` says why.
    """

    case: Case | None = None
    failure: Failure | None = None
    oracle: str = ""
    status: str = ""
    reason: str = ""

    @property
    def shown(self) -> bool:
        """Whether a script shows it."""
        return self.status == "confirmed"


@register
@dataclass(frozen=True)
class Finding:
    """Case + signature + evidence: what is emitted and stored.

    ``status`` is ``confirmed`` once the repro failed with the same signature in a clean process;
    ``unconfirmed``, ``interrupted``, ``stopped`` otherwise. ``oracle`` names the invariant whose
    violation is the failure, "" if lowering raises. ``flaky``: how often it fails, "" if always.
    ``pass_level`` is the same at the level of one pass. ``elsewhere`` is what other backends do with
    the case; ``versions`` are lines as ``torch.utils.collect_env`` gives them.
    """

    subject: str
    case: Case
    signature: Signature
    failure: Failure
    rule: MatchRule
    environment: Environment
    status: str
    operators_before: int
    certificate: tuple[Evidence, ...] = ()
    slips: tuple[Slip, ...] = ()
    ledger: Ledger = Ledger()
    notes: tuple[str, ...] = ()
    diagnosis: Diagnosis | None = None
    oracle: str = ""
    flaky: str = ""
    pass_level: PassLevel | None = None
    elsewhere: tuple[Elsewhere, ...] = ()
    versions: tuple[str, ...] = ()

    def at_pass_level(self) -> Finding:
        """The finding with the case that runs one pass. There has to be one."""
        level = self.pass_level
        assert level is not None
        assert level.case is not None
        assert level.failure is not None
        return replace(
            self,
            case=level.case,
            failure=level.failure,
            signature=signature_of(level.failure),
            rule=MatchRule(),
            oracle=level.oracle,
            status=level.status,
            certificate=(),
            slips=(),
        )
