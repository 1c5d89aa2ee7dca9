"""In which order is what tried? The search of the design, from isolation to certificate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import cast

from reducer.core.case import GETITEM, Case, node_references
from reducer.core.delta import Delta, Edit
from reducer.core.events import Event, PhaseBegan
from reducer.core.finding import Evidence
from reducer.core.verdict import Verdict
from reducer.core.wire import Attempt
from reducer.deltas import (
    ATTRIBUTES,
    DELTAS,
    STRUCTURE,
    USUAL,
    cut_nodes,
    drop_outputs,
    find_delta,
    merge_inputs,
)
from reducer.graph.prune import prune, with_outputs
from reducer.graph.region import backward_cone, extract, module_of
from reducer.graph.topology import topology
from reducer.search.bisect_last import bisect_last
from reducer.search.chunks import remove_chunks
from reducer.search.greedy import take_all_or_halves
from reducer.search.narrow import narrow
from reducer.workflows.elements import elements
from reducer.workflows.reduction import Reduction
from reducer.workflows.source_strategy import isolate_source, minimise_source

#: Up to this many operators, edits are tried one by one without any coarser step before.
FEW = 5
#: With more operators than these it matters how large a candidate is, not only how many there are.
LARGE = 128
#: What attribute deltas do first is tried in one call: the name under which that is counted.
TOGETHER = "attributes"


def isolate(
    reduction: Reduction, case: Case, attempt: Attempt, report: Callable[[Event], None]
) -> bool:
    """Find a first smaller case that fails as wanted. False: not even the whole case does, rebuilt.

    ``case`` is what was captured, ``attempt`` its failure: candidates are the regions that it points at,
    smallest first.
    """
    report(PhaseBegan("isolate", case.operators))
    # Dimensions that export found by itself may not hold as declared ranges: let it find them again.
    symbols = tuple(replace(symbol, auto=True) for symbol in case.symbols)
    found = (
        isolate_source(reduction, case, attempt)
        if case.source
        else _isolate(reduction, case, attempt)
        or (bool(symbols) and _isolate(reduction, replace(case, symbols=symbols), attempt))
    )
    if found:
        reduction.elements = len(elements(reduction.best))
    return found


def _isolate(reduction: Reduction, case: Case, attempt: Attempt) -> bool:
    tried: list[Case] = []
    for names, role in _regions(case, attempt):
        candidate = extract(case, names, role)
        if candidate is None or candidate in tried or candidate.operators >= case.operators:
            continue
        tried.append(candidate)
        if reduction.offer(candidate, "isolate"):
            return True
    return reduction.offer(case, "isolate")


def minimise(reduction: Reduction, report: Callable[[Event], None]) -> None:
    """Reduce the best case until no single change helps."""
    if reduction.best.source:
        minimise_source(reduction, report, _together, _one_by_one)
        return
    if len(reduction.best.graph.outputs) > 1 and reduction.best.operators > FEW:
        report(PhaseBegan("outputs", reduction.best.operators))
        _outputs(reduction)
    if reduction.best.operators > FEW:
        report(PhaseBegan("nodes", reduction.best.operators))
        _nodes(reduction)
    _together(reduction, cast(Delta, merge_inputs))
    _last_output(reduction)
    before: Case | None = None
    refused: Sequence[Delta] | None = None
    while reduction.best != before:
        before = reduction.best
        # Attributes first: few calls, they make later calls cheaper, and the sweep over elements that
        # ends the search is then already that of the final case.
        report(PhaseBegan("attributes", reduction.best.operators))
        refused = _usual_attributes(reduction) if refused is None else ()
        for delta in ATTRIBUTES:
            if delta.TOGETHER:
                _together(reduction, delta, refused=delta in refused)
            else:
                _one_by_one(reduction, (delta,))
        report(PhaseBegan("elements", reduction.best.operators))
        _together(reduction, cast(Delta, merge_inputs))
        _outputs(reduction)
        _one_by_one(reduction, STRUCTURE)


def certificate(reduction: Reduction) -> tuple[Evidence, ...]:
    """For every remaining element, the verdicts seen when it alone is removed or simplified."""
    found = [item for delta in DELTAS for item in reduction.evidence(delta)]
    listed = {item.element for item in found}
    for item in reduction.best.graph.inputs:
        element = f"input {item.name}"
        if element not in listed:
            readers = [
                n.name for n in reduction.best.graph.nodes if item.name in node_references(n)
            ]
            reason = f"read by {', '.join(readers) or 'the output'}"
            found.append(Evidence(element, "drop-inputs", Verdict.INVALID, reason))
    return tuple(found)


def _regions(case: Case, attempt: Attempt) -> Iterator[tuple[Sequence[str], str | None]]:
    """Regions to try, smallest first, each with the role of what is cut (None: by nature)."""
    suspects, partition = attempt.suspects, attempt.partition
    if suspects:
        yield suspects[:1], None
        yield suspects, None
    if partition:
        yield partition, None
        yield partition, "constant"
    if suspects:
        yield sorted(backward_cone(case, suspects[:1])), None
        yield sorted(backward_cone(case, suspects)), None
    if partition:
        yield sorted(backward_cone(case, partition)), None
    for names in (suspects, partition):
        if names:
            yield sorted(module_of(case, names)), None


def _last_output(reduction: Reduction) -> bool:
    """Return one value only, the last, which mostly is enough. Whether one is returned now."""
    last = len(reduction.best.graph.outputs) - 1
    return last == 0 or reduction.offer(_returning(reduction.best, [last]), drop_outputs.NAME)


def _outputs(reduction: Reduction) -> None:
    """Return as few values as will do."""
    if _last_output(reduction):
        return
    start = reduction.best

    def fails(kept: Sequence[int]) -> bool:
        return bool(kept) and reduction.offer(_returning(start, kept), drop_outputs.NAME)

    bisect_last(range(len(start.graph.outputs)), fails)


def _returning(case: Case, kept: Sequence[int]) -> Case:
    return prune(with_outputs(case, kept))


def _usual_attributes(reduction: Reduction) -> list[Delta]:
    """Try in one call what nearly always goes, then by halves; the deltas whose first edits do not."""

    def taken(deltas: Sequence[Delta]) -> bool:
        case: Case | None = reduction.best
        for delta in deltas:
            if case is not None:
                edits = _choices(delta, case)
                case = delta.apply(case, edits if delta.TOGETHER else edits[:1])
        return reduction.offer(case, TOGETHER)

    return take_all_or_halves([d for d in USUAL if d.edits(reduction.best)], taken)


def _nodes(reduction: Reduction) -> None:
    start = reduction.best
    shape = topology(start)

    def fails(kept: Sequence[str]) -> bool:
        candidate = extract(start, kept, shape=shape) if kept else None
        return candidate is not None and reduction.offer(candidate, "cut-nodes")

    names = _calls(start)
    within = narrow(names, fails, LARGE)
    bisect_last(within, fails)
    if reduction.best.operators > FEW:  # many are needed, or it is not monotone
        _chunks(reduction)


def _chunks(reduction: Reduction) -> None:
    """Remove more, if less was known to be needed than bisection thought: half of the calls can go."""

    def removed(chunk: Sequence[str]) -> bool:
        first = {edit.element: edit for edit in reversed(cut_nodes.edits(reduction.best))}
        edits = [first[name] for name in chunk if name in first]
        return bool(edits) and reduction.offer_edits(cut_nodes, edits)

    names = _calls(reduction.best)
    middle = len(names) // 2
    if removed(names[middle:]) or removed(names[:middle]):
        remove_chunks(_calls(reduction.best), removed)


def _calls(case: Case) -> list[str]:
    return [node.name for node in case.graph.nodes if node.target != GETITEM]


def _one_by_one(reduction: Reduction, deltas: Sequence[Delta]) -> None:
    """Try every edit of the deltas alone, from the best case at that moment, until none helps.

    First alternatives of all elements come before second ones of any: they are the likely ones.
    """
    tried: set[Edit] = set()
    progress = False
    while True:
        ranked = [pair for delta in deltas for pair in by_rank(delta.edits(reduction.best))]
        left = [edit for _, edit in sorted(ranked, key=lambda pair: pair[0]) if edit not in tried]
        reduction.left = len(left)
        if left:
            tried.add(left[0])
            progress |= reduction.offer_edits(find_delta(left[0].delta), left[:1])
        elif progress:
            progress = False
            tried.clear()  # what did not help before may help now
        else:
            return


def by_rank(edits: Sequence[Edit]) -> list[tuple[int, Edit]]:
    """Each edit with its place among the alternatives of its element."""
    seen: Counter[str] = Counter()
    ranked = []
    for edit in edits:
        ranked.append((seen[edit.element], edit))
        seen[edit.element] += 1
    return ranked


def _together(reduction: Reduction, delta: Delta, *, refused: bool = False) -> None:
    """Try the edits of a delta all at once, then in halves; alternatives of an element in turn.

    ``refused``: the first ones of all elements are known not to go together.
    """

    def taken(some: Sequence[Edit]) -> bool:
        return reduction.offer_edits(delta, some)

    gone: set[Edit] = set()
    while choice := _choices(delta, reduction.best, without=gone):
        gone |= set(take_all_or_halves(choice, taken, refused=refused))
        refused = False


def _choices(delta: Delta, case: Case, without: Collection[Edit] = ()) -> list[Edit]:
    """The first edit of each element."""
    choice: dict[str, Edit] = {}
    for edit in delta.edits(case):
        if edit not in without:
            choice.setdefault(edit.element, edit)
    return list(choice.values())


def with_last_stage(case: Case, attempt: Attempt) -> Case:
    """The case lowered only as far as its failure."""
    assert attempt.failure is not None
    return replace(case, recipe=replace(case.recipe, last_stage=attempt.failure.stage))
