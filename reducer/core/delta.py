"""What is one change that makes a case smaller, as data?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from reducer.core.case import Argument, Case


@dataclass(frozen=True)
class Edit:
    """One atomic change.

    ``element`` names what is changed, for people and for the certificate; edits of one delta with
    equal ``element`` are alternatives, best first. ``payload`` is read by the delta alone.
    """

    delta: str
    element: str
    payload: tuple[Argument, ...] = ()
    what: str = ""


class Delta(Protocol):
    """One kind of change. A module of :mod:`reducer.deltas` is one."""

    NAME: str
    #: Whether edits of different elements go together, so that all may be tried in one call.
    TOGETHER: bool

    def edits(self, case: Case) -> Sequence[Edit]:
        """All changes of this kind that the case admits, in the order in which to try them."""

    def apply(self, case: Case, edits: Sequence[Edit]) -> Case | None:
        """The case with these edits made together; None if they do not go together.

        At most one edit per element is given. An empty sequence gives an equal case.
        """
