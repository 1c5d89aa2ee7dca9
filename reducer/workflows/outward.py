"""How is a finding told to others: under which names, and without what?

The search works with the names of the user's program, and ``state/`` holds them. What people attach or
paste is made here: values are called after their operator or role, all texts are scrubbed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reducer.core.case import Case
from reducer.core.finding import Evidence, Finding
from reducer.core.recipe import texts
from reducer.core.wire import Capture
from reducer.emit.plain_names import plain_names, renamed
from reducer.emit.scrub import Scrubber, is_telling, people_here
from reducer.workflows.settings import ReduceSettings


@dataclass(frozen=True)
class Outward:
    """Turns what a run knows into what it says."""

    scrubber: Scrubber

    @property
    def keep_names(self) -> bool:
        """Whether the user's own names stay."""
        return self.scrubber.keep

    def keeping_names(self) -> Outward:
        """The same, with the user's own names."""
        return Outward(replace(self.scrubber, keep=True))

    def case(self, case: Case) -> Case:
        """The case under the names by which it is told."""
        return renamed(case, plain_names(case, keep=self.keep_names), keep=self.keep_names)

    def warnings(self, case: Case) -> tuple[str, ...]:
        """What the scripts show although it looks private: the failure may need the option."""
        plain = replace(self.scrubber, names={}, words=frozenset())  # names alone are no secret
        if all(plain.text(words) == words for words in texts(case.recipe)):
            return ()
        return (
            "an option or a definition that the scripts repeat looks private (a path, name, host or"
            " key): read them before you show them",
        )

    def certificate(self, case: Case, certificate: Sequence[Evidence]) -> tuple[Evidence, ...]:
        """What was seen of a case's neighbours, under the names of :meth:`case`."""
        names = plain_names(case, keep=self.keep_names)
        return replace(self.scrubber, names=names).noun(tuple(certificate))

    def finding(self, finding: Finding) -> Finding:
        """The finding as it is told. Its diagnosis must be one of :meth:`case`."""
        scrubber, case = self.scrubber, finding.case
        names = plain_names(case, keep=self.keep_names)
        # Calls, and inputs in place of calls, are called after operators: such words are nobody's.
        given = [item for item in case.graph.inputs if not item.made]
        sure = {
            item.name: names[item.name]
            for item in given
            if item.role != "input" or is_telling(item.name)
        }
        failure = replace(scrubber, names=sure)
        path = Path(finding.subject)
        return replace(
            finding,
            subject=path.name if self.keep_names else f"subject{path.suffix}",
            case=renamed(case, names, keep=self.keep_names),
            signature=failure.noun(finding.signature),
            failure=failure.noun(finding.failure),
            certificate=self.certificate(case, finding.certificate),
            slips=scrubber.noun(finding.slips),
            notes=scrubber.noun(finding.notes),
            diagnosis=scrubber.noun(finding.diagnosis),
            elsewhere=scrubber.noun(finding.elsewhere),
        )


def outward(captured: Capture, settings: ReduceSettings) -> Outward:
    """What to leave out is known from the user's files and the words of the user's program."""
    files = (Path(path).stem for path, _ in captured.files)
    words = frozenset([*captured.words, *files, *re.findall(r"\w+", Path(settings.subject).stem)])
    return Outward(Scrubber(words=words, people=people_here(), keep=settings.keep_names))
