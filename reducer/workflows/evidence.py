"""What is there to say about the smallest case, besides that it fails?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reducer.core.case import Case
from reducer.core.diagnosis import Diagnosis
from reducer.core.errors import ReducerError
from reducer.core.finding import Elsewhere, Evidence, PassLevel
from reducer.core.signature import Failure, Signature
from reducer.core.wire import Limits, VersionLines, VersionsJob
from reducer.workflows.elsewhere import Others
from reducer.workflows.explain import explain_case
from reducer.workflows.pass_level import PassSearch, pass_level
from reducer.workflows.session import Session


@dataclass(frozen=True)
class Said:
    """Diagnosis, the same with one pass (not confirmed yet), other backends, versions.

    ``problem`` says why there is no diagnosis, "" if there is one. A repro is worth as much without.
    """

    diagnosis: Diagnosis | None = None
    pass_level: PassLevel | None = None
    elsewhere: tuple[Elsewhere, ...] = ()
    versions: tuple[str, ...] = ()
    problem: str = ""


def say(
    case: Case,
    failure: Failure,
    wanted: Signature,
    certificate: Sequence[Evidence],
    limits: Limits,
    session: Session,
) -> Said:
    """Ask all that a report says. ``case`` and ``certificate`` under the names by which they are told."""
    if case.source:  # nothing was lowered: there is nothing to watch, and no backend to ask
        return Said(versions=_versions(session, limits))
    said = Said()
    worker, store, data = session.worker, session.store, session.folder.data
    settings = session.settings
    with session.timed("other backends"):
        others = Others(
            case, worker, store, data, limits, oracle=settings.oracle, spare=settings.jobs - 1
        )
    try:
        with session.timed("diagnose"):
            diagnosis = explain_case(
                case, worker, store, data, limits.seconds, (), certificate, failure
            )
        with session.timed("pass alone"):
            search = PassSearch(worker, store, data, limits, settings.jobs - 1)
            said = replace(
                said,
                diagnosis=diagnosis,
                pass_level=_alone(case, diagnosis, search, settings.oracle),
            )
    except ReducerError as error:
        said = replace(said, problem=f"not diagnosed: {error.message}")
    with session.timed("other backends"):
        found = others.verdicts(wanted, settings.rule)
    return replace(said, elsewhere=found, versions=_versions(session, limits))


def _versions(session: Session, limits: Limits) -> tuple[str, ...]:
    answer = session.worker.run(VersionsJob(), limits).result
    return answer.lines if isinstance(answer, VersionLines) else ()


def _alone(case: Case, diagnosis: Diagnosis, search: PassSearch, oracle: str) -> PassLevel:
    try:
        return pass_level(diagnosis.explanation, case, search, oracle)
    except ReducerError as error:
        return PassLevel(reason=error.message)
