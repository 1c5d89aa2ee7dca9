"""What can be taken from a case? Its elements: all that a certificate may have a line for."""

from __future__ import annotations

from reducer.core.case import Case
from reducer.deltas import DELTAS


def elements(case: Case) -> set[str]:
    """Names of the calls and inputs, and of whatever else a delta can remove or simplify.

    Whether a change would make the case simpler, as it has to for the certificate, is not asked: of a large
    case that would take longer than the search.
    """
    calls = {node.name for node in case.graph.nodes}
    inputs = {f"input {item.name}" for item in case.graph.inputs}
    return calls | inputs | {edit.element for delta in DELTAS for edit in delta.edits(case)}
