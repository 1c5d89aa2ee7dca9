"""In which order is what tried? The search of the design, from isolation to certificate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import cast

from reducer.core.case import GETITEM, Case, node_references
from reducer.core.delta import Delta
from reducer.core.events import Event, PhaseBegan
from reducer.core.finding import Evidence
from reducer.core.verdict import Verdict
from reducer.core.wire import Attempt
from reducer.deltas import (
    ATTRIBUTES,
    DELTAS,
    STRUCTURE,
    cut_nodes,
    drop_outputs,
    merge_inputs,
)
from reducer.graph.prune import prune, with_outputs
from reducer.graph.region import backward_cone, extract, module_of
from reducer.graph.topology import topology
from reducer.search.bisect_last import bisect_last
from reducer.search.chunks import remove_chunks
from reducer.search.narrow import narrow
from reducer.workflows.elements import elements
from reducer.workflows.reduction import Reduction
from reducer.workflows.source_strategy import isolate_source, minimise_source
from reducer.workflows.sweeps import one_by_one, together, usual_together

#: Up to this many operators, edits are tried one by one without any coarser step before.
FEW = 5
#: With more operators than these it matters how large a candidate is, not only how many there are.
LARGE = 128


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


def minimise(
    reduction: Reduction,
    report: Callable[[Event], None],
    attributes: Sequence[Delta] = ATTRIBUTES,
) -> None:
    """Reduce the best case until no single change of its structure or of these attributes helps."""
    if reduction.best.source:
        minimise_source(reduction, report)
        return
    cut_down(reduction, report)
    together(reduction, cast(Delta, merge_inputs))
    _last_output(reduction)
    before: Case | None = None
    while reduction.best != before:
        first, before = before is None, reduction.best
        # Attributes first: few calls, they make later calls cheaper, and the sweep over elements that
        # ends the search is then already that of the final case.
        report(PhaseBegan("attributes", reduction.best.operators))
        refused = usual_together(reduction, attributes) if first else []
        for delta in attributes:
            if delta.TOGETHER:
                together(reduction, delta, refused=delta in refused)
            else:
                one_by_one(reduction, (delta,))
        report(PhaseBegan("elements", reduction.best.operators))
        together(reduction, cast(Delta, merge_inputs))
        _outputs(reduction)
        one_by_one(reduction, STRUCTURE)


def cut_down(reduction: Reduction, report: Callable[[Event], None]) -> None:
    """Return fewer values and keep fewer calls, if there are many; nothing is made plainer."""
    if len(reduction.best.graph.outputs) > 1 and reduction.best.operators > FEW:
        report(PhaseBegan("outputs", reduction.best.operators))
        _outputs(reduction)
    if reduction.best.operators > FEW:
        report(PhaseBegan("nodes", reduction.best.operators))
        _nodes(reduction)


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


def _nodes(reduction: Reduction) -> None:
    start = reduction.best
    shape = topology(start)

    likely: list[Sequence[str]] = []

    def candidate(kept: Sequence[str]) -> Case | None:
        return extract(start, kept, shape=shape) if kept else None

    def fails(kept: Sequence[str]) -> bool:
        found = candidate(kept)
        return found is not None and reduction.offer(found, "cut-nodes", map(candidate, likely))

    def foresee(sets: Iterable[Sequence[str]]) -> None:
        likely[:] = sets

    within = narrow(_calls(start), fails, LARGE)
    bisect_last(within, fails, foresee)
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


def with_last_stage(case: Case, attempt: Attempt) -> Case:
    """The case lowered only as far as its failure."""
    assert attempt.failure is not None
    return replace(case, recipe=replace(case.recipe, last_stage=attempt.failure.stage))
