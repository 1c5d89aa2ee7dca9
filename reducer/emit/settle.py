"""Which spelling of each operator exports to that very operator? Asked, not guessed.

Start with the most ordinary one everywhere; what does not come back as itself is written another
way, until the exported operators are those of the case. At worst all are ``torch.ops``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from reducer.core.case import Case, Graph, graph_references
from reducer.core.wire import Spelled
from reducer.emit.names import operator_name
from reducer.emit.source import write_source
from reducer.emit.spelling import Spelling, ways
from reducer.emit.uses import Uses

Ask = Callable[[str], Spelled]

#: Questions to the worker at most.
MOST_QUESTIONS = 40

_SILENT = re.compile(r"aten\.(sym_\w+|_assert_scalar|_assert_tensor_metadata)\.")


@dataclass(frozen=True)
class Settled:
    """A spelling, and whether its source exports to the case's operators in their order.

    ``difference`` says what it exports to instead.
    """

    spelling: Spelling
    exact: bool
    questions: int
    difference: str = ""


def settle(case: Case, ask: Ask) -> Settled:
    """Find a spelling for the case; ``ask`` exports a source and tells the operators."""
    return _Search(case, ask).run()


def comparable(targets: Iterator[str] | list[str] | tuple[str, ...]) -> list[str]:
    """Operators without what export adds by itself or computes with numbers only."""
    kept: list[str] = []
    for target in targets:
        silent = ":" in target or _SILENT.match(target)
        # torch.tensor(...) is exported as the copy of a constant, in most places then detached
        after_literal = target == "aten.detach_.default" and kept[-1:] == [_LITERAL]
        if not silent and not after_literal:
            kept.append(target)
    return kept


def wanted_targets(case: Case) -> list[str]:
    """Operators that the source of a case should export to: the main graph's, then subgraphs'."""
    return comparable(list(_walk(case, case.graph)))


def _walk(case: Case, graph: Graph) -> Iterator[str]:
    nodes = Uses(graph, case.schemas).nodes
    yield from (node.target for node in nodes)
    for node in nodes:
        for value in node.args:
            for name in graph_references(value):
                yield from _walk(case, case.subgraph(name))


_LITERAL = "aten.lift_fresh_copy.default"


class _Search:
    def __init__(self, case: Case, ask: Ask) -> None:
        self.case = case
        self.ask = ask
        self.wanted = wanted_targets(case)
        self.targets = list(dict.fromkeys(self.wanted))
        self.last = {target: len(ways(target)) - 1 for target in self.targets}
        self.questions = 0
        self.difference = ""
        self.answers: dict[str, Spelled] = {}

    def run(self) -> Settled:
        spelling = dict.fromkeys(self.targets, 0)
        while self.questions < MOST_QUESTIONS // 2:
            answer = self._answer(spelling)
            if not answer.error and comparable(answer.targets) == self.wanted:
                return self._settled(spelling, exact=True)
            worse = [
                target for target in self._blamed(answer) if spelling[target] < self.last[target]
            ]
            if not worse:
                break
            for target in worse:
                spelling[target] += 1
        return self._from_the_other_end()

    def _from_the_other_end(self) -> Settled:
        """Nothing more can be blamed: all as ``torch.ops``, then each the best way that works."""
        spelling = dict(self.last)
        if not self._same(spelling):
            return self._settled(spelling, exact=False)
        for target in self.targets:
            for way in range(self.last[target]):
                if self.questions >= MOST_QUESTIONS:
                    break
                if self._same({**spelling, target: way}):
                    spelling[target] = way
                    break
        return self._settled(spelling, exact=True)

    def _answer(self, spelling: Spelling) -> Spelled:
        source = write_source(self.case, spelling).text
        if source not in self.answers:
            self.questions += 1
            self.answers[source] = self.ask(source)
        answer = self.answers[source]
        self.difference = answer.error or _difference(self.wanted, comparable(answer.targets))
        return answer

    def _same(self, spelling: Spelling) -> bool:
        answer = self._answer(spelling)
        return not answer.error and comparable(answer.targets) == self.wanted

    def _blamed(self, answer: Spelled) -> list[str]:
        """Operators that did not come back, or that the error names."""
        if answer.error:
            return [t for t in self.targets if _mentions(answer.error, operator_name(t))]
        found = comparable(answer.targets)
        blamed: dict[str, None] = {}
        matcher = SequenceMatcher(None, self.wanted, found, autojunk=False)
        for tag, start, end, _, _ in matcher.get_opcodes():
            if tag == "insert":  # a neighbour gave more than itself
                blamed.update(dict.fromkeys(self.wanted[max(start - 1, 0) : end + 1]))
            elif tag != "equal":
                blamed.update(dict.fromkeys(self.wanted[start:end]))
        return list(blamed)

    def _settled(self, spelling: Spelling, *, exact: bool) -> Settled:
        used = {target: way for target, way in spelling.items() if way}
        return Settled(used, exact, self.questions, "" if exact else self.difference)


def _mentions(error: str, name: str) -> bool:
    return re.search(rf"(?<![A-Za-z0-9]){re.escape(name)}\b", error) is not None


def _difference(wanted: list[str], found: list[str]) -> str:
    for position, (left, right) in enumerate(zip(wanted, found, strict=False)):
        if left != right:
            return f"operator {position + 1} is {right} instead of {left}"
    missing = wanted[len(found) :]
    return f"{missing[0]} is missing" if missing else f"{', '.join(found[len(wanted) :])} too many"
