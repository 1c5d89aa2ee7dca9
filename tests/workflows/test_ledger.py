"""Does the ledger say where every call went, and does a larger model cost no more of them?"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from reducer.core import text
from reducer.core.case import Fill
from reducer.core.events import Improved
from reducer.core.finding import Finding, Ledger
from reducer.emit.record import read_finding
from reducer.search.bound import calls_bound
from reducer.workflows.output import OutputFolder
from reducer.workflows.reduction import Reduction
from tests.bench.planted import PlantedWorker, measure, reduce_whole
from tests.quality.planted import WANTED, PlantedOracle
from tests.quality.scenarios import chain, window

MARKS = {40: "cos", 61: "tan"}


def whole(folder: Path) -> tuple[Finding, int]:
    """The record of a run, and how often the worker was asked."""
    worker = PlantedWorker(tuple(MARKS.values()))
    found = reduce_whole(
        OutputFolder(folder), worker, chain(MARKS, weights=Fill("random")), window(30, 70)
    )
    return found, worker.asked


@pytest.fixture(scope="module")
def finding(tmp_path_factory: pytest.TempPathFactory) -> Finding:
    found, asked = whole(tmp_path_factory.mktemp("run"))
    ledger = found.ledger
    assert asked == ledger.calls + ledger.refused
    return found


def test_every_call_is_accounted_for(finding: Finding) -> None:
    ledger = finding.ledger
    paid = {name: useful + useless for name, useful, useless in ledger.paid}
    assert sum(paid.values()) == ledger.calls
    assert paid["run again"] == 2 == ledger.calls - ledger.unique
    assert (ledger.repeated, ledger.resumed, ledger.invalid) == (0, 0, 0)
    assert (paid["isolate"], paid["bypass-nodes"]) == (1, 3)
    assert dict(ledger.stages) == {"preprocess": ledger.calls}
    assert ledger.sequential > 0


def test_every_verdict_and_refusal_is_accounted_for(finding: Finding) -> None:
    ledger = finding.ledger
    gates = dict(ledger.gates)
    assert (
        sum(number for _, number in ledger.verdicts)
        == ledger.calls + ledger.refused + gates["seen"]
    )
    tried = sum(number for _, number, _ in ledger.deltas)
    assert tried == sum(number for _, number in ledger.verdicts) - 2


def test_what_the_parent_refuses_reaches_no_oracle(finding: Finding) -> None:
    oracle = PlantedOracle(lambda case, _: WANTED)
    reduction = Reduction(oracle)
    assert reduction.offer(finding.case, "isolate")
    assert not reduction.offer(None, "sizes")
    assert not reduction.offer(finding.case, "sizes")
    assert reduction.gates == {"no program": 1, "not simpler": 1}
    assert oracle.calls == 1


def test_the_bound_is_that_of_the_elements(finding: Finding) -> None:
    ledger = finding.ledger
    start, left = ledger.elements
    assert left == len({item.element for item in finding.certificate})
    assert start > 2 * left
    assert ledger.bound == calls_bound(start, left)


def test_steps_lead_from_the_start_to_the_result(finding: Finding) -> None:
    steps = finding.ledger.steps
    assert (steps[0], steps[-1][1]) == ((1, 41), finding.case.operators)
    assert all(now[0] > was[0] and now[1] < was[1] for was, now in pairwise(steps))
    assert finding.ledger.first_smaller(finding.operators_before) == 1
    assert finding.ledger.first_smaller(2) is None


def test_a_run_that_goes_on_has_the_same_ledger(finding: Finding, tmp_path: Path) -> None:
    first, _ = whole(tmp_path)
    again, asked = whole(tmp_path)
    assert asked == 0
    assert again.ledger.resumed == again.ledger.calls
    ledgers = [
        replace(found.ledger, resumed=0, seconds=(), sequential=0.0) for found in (first, again)
    ]
    assert ledgers[0] == ledgers[1]


def test_a_ledger_of_an_older_run_is_read() -> None:
    old = '{"_":"Ledger","calls":3,"deltas":[["sizes",2,1]],"refused":1,"seconds":[["search",6.0]]}'
    assert text.loads(old) == Ledger(3, 0, 0, 1, (), (("sizes", 2, 1),), (("search", 6.0),))


@pytest.mark.parametrize("faults", ["1", "2 adjacent"])
def test_a_larger_model_takes_no_more_calls_after_isolation(faults: str) -> None:
    rows = [measure(nodes, faults, named=True) for nodes in (100, 5000)]
    assert rows[0].operators == rows[1].operators
    after = [row.ledger.calls - 1 for row in rows]
    assert abs(after[0] - after[1]) <= 2


def test_each_smaller_case_is_on_disk_at_once_however_large(tmp_path: Path) -> None:
    steps = []

    def report(event: object) -> None:
        if isinstance(event, Improved):
            written = read_finding(event.path.parent)
            assert written.case.operators == event.operators
            assert "class Repro" in event.path.read_text()
            steps.append(event.operators)

    case = chain(MARKS, nodes=300, weights=Fill("random"))
    worker = PlantedWorker(tuple(MARKS.values()))
    reduce_whole(OutputFolder(tmp_path), worker, case, (), report)
    assert steps[0] >= 300
    assert steps[-1] == 2
