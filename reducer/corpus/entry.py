"""What does a corpus keep of a finding? What is true of the bug, and nothing about the run.

Two people who reduce the same bug get the same id, which is made from signature and canonical case.
Of what they keep beside that (versions, status, the link to a public report) each knows a part:
:func:`joined` puts the parts together, in whatever order they come.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from reducer.core import text
from reducer.core.case import GETITEM, Case, Graph, TensorSpec
from reducer.core.diagnosis import Diagnosis
from reducer.core.errors import BadInput
from reducer.core.finding import Finding
from reducer.core.signature import SIGNATURE_VERSION, Signature, signature_of
from reducer.core.text import register
from reducer.core.wire import Environment
from reducer.graph.canonical import CANONICAL_VERSION, case_digest

#: Of the record itself, of the rules of signatures, of the canonical form: all three make the id.
RULES = (1, SIGNATURE_VERSION, CANONICAL_VERSION)

#: What an entry says: it is known to fail; it is mended, and has to lower from now on.
KNOWN_FAILURE, MUST_PASS = "known failure", "must pass"
STATUSES = (KNOWN_FAILURE, MUST_PASS)

_ID_LENGTH = 16
_LINK = re.compile(r"https?://[\w.-]+(?:/[\w./#?=&%~+:@-]*)?")


@register
@dataclass(frozen=True, order=True)
class Versions:
    """A pair of releases on which an entry was seen to fail or to pass."""

    executorch: str
    torch: str

    def __str__(self) -> str:
        return f"executorch {self.executorch or 'from source'}, torch {self.torch}"


@register
@dataclass(frozen=True)
class Entry:
    """One bug. ``rules`` are those under which it was written (see :data:`RULES`).

    ``signature`` is that of the case's own failure; ``oracle`` names the invariant that it breaks, ""
    if lowering raises; ``flaky``: it fails now and then. ``culprit`` is the pass that really breaks it
    as far as that is known; ``summary`` and ``answers`` (question, answer) are the diagnosis.
    ``failing`` and ``passing`` are sorted. ``link`` leads to a public report.
    """

    case: Case
    signature: Signature
    rules: tuple[int, int, int]
    oracle: str = ""
    flaky: bool = False
    culprit: str = ""
    summary: str = ""
    answers: tuple[tuple[str, str], ...] = ()
    failing: tuple[Versions, ...] = ()
    passing: tuple[Versions, ...] = ()
    status: str = KNOWN_FAILURE
    link: str = ""

    @property
    def id(self) -> str:
        """The id: the same for everybody who finds the bug."""
        known = (self.rules, self.signature, self.oracle, case_digest(self.case))
        return text.digest(known)[:_ID_LENGTH]

    @property
    def backend(self) -> str:
        """The backend, as a name for a folder."""
        return re.sub(r"[^A-Za-z0-9]+", "_", self.case.recipe.backend).strip("_") or "unnamed"

    @property
    def bucket(self) -> str:
        """What entries have in common that fail in the same way, in whatever program."""
        return text.digest((self.signature, self.oracle))[:_ID_LENGTH]

    @property
    def comparable(self) -> bool:
        """Whether it was written under the rules by which this version compares failures."""
        return self.rules == RULES

    @property
    def operators(self) -> tuple[str, ...]:
        """The operators of its case, each once, sorted."""
        return tuple(sorted({node.target for graph in _graphs(self.case) for node in graph.nodes}
                            - {GETITEM}))  # fmt: skip

    @property
    def dtypes(self) -> tuple[str, ...]:
        """The classes of numbers that go into it: float, int, bool, complex; quantized ones are int."""
        specs = [item.spec for graph in _graphs(self.case) for item in graph.inputs]
        return tuple(sorted({_dtype_class(s.dtype) for s in specs if isinstance(s, TensorSpec)}))

    @property
    def stored(self) -> frozenset[str]:
        """Digests of the tensors whose numbers are in files beside the record."""
        fills = [item.fill for graph in _graphs(self.case) for item in graph.inputs]
        fills += [fill for check in self.case.checks for _, fill in check.fills]
        return frozenset(fill.digest for fill in fills if fill.digest)

    def seen(self, versions: Versions, *, fails: bool) -> Entry:
        """The entry, seen to fail or to pass with these versions."""
        if fails:
            return replace(self, failing=_union(self.failing, (versions,)))
        return replace(self, passing=_union(self.passing, (versions,)))


def entry_of(finding: Finding, link: str = "") -> Entry:
    """The entry for a finding. Raises BadInput for one that is not confirmed, and for no link."""
    if finding.status != "confirmed":
        raise BadInput(
            f"the finding is {finding.status}, not confirmed",
            hint="run the same reduction again: it goes on where it stopped",
        )
    if link and not is_link(link):
        raise BadInput(f"{link!r} is no link", hint="give the https:// address of a public report")
    diagnosis = finding.diagnosis
    return Entry(
        case=_without_modules(finding.case),
        signature=signature_of(finding.failure),
        rules=RULES,
        oracle=finding.oracle,
        flaky=bool(finding.flaky),
        culprit=_culprit(diagnosis) or finding.signature.compiler_pass,
        summary=diagnosis.summary if diagnosis else "",
        answers=tuple((item.name, item.text) for item in diagnosis.answers) if diagnosis else (),
        failing=(versions_of(finding.environment),),
        link=link,
    )


def versions_of(environment: Environment) -> Versions:
    """The releases that an environment has, without what only says how they were built."""
    executorch, torch = (
        version.partition("+")[0] for version in (environment.executorch, environment.torch)
    )
    return Versions(executorch, torch)


def joined(one: Entry, other: Entry) -> Entry:
    """``one`` with what ``other`` knows of the same bug: order and repetition make no difference."""
    links = sorted(filter(None, [one.link, other.link]))
    return replace(
        one,
        failing=_union(one.failing, other.failing),
        passing=_union(one.passing, other.passing),
        status=max(one.status, other.status, key=STATUSES.index),
        link=links[0] if links else "",
    )


def is_link(link: str) -> bool:
    """Whether it is the address of a page, and nothing else."""
    return len(link) <= 300 and _LINK.fullmatch(link) is not None


def _union(some: tuple[Versions, ...], others: tuple[Versions, ...]) -> tuple[Versions, ...]:
    return tuple(sorted({*some, *others}))


def _culprit(diagnosis: Diagnosis | None) -> str:
    if diagnosis is None or diagnosis.explanation.culprit is None:
        return ""
    return diagnosis.explanation.runs[diagnosis.explanation.culprit].name


def _graphs(case: Case) -> list[Graph]:
    return [case.graph, *(graph for _, graph in case.subgraphs)]


def _without_modules(case: Case) -> Case:
    """The case without the paths of the user's modules: they say nothing about the bug."""
    return replace(
        case,
        graph=_plain(case.graph),
        subgraphs=tuple((name, _plain(graph)) for name, graph in case.subgraphs),
    )


def _plain(graph: Graph) -> Graph:
    return replace(graph, nodes=tuple(replace(node, module="") for node in graph.nodes))


def _dtype_class(dtype: str) -> str:
    for name in ("complex", "bool", "float"):
        if name in dtype:
            return name
    return "int"
