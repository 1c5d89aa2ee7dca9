"""How small does a planted bug become, and in how many calls?

Sizes are exact: they are what a careful person reaches. Calls are pinned in ``pins.json``; after a
change of the search, ``python -m tests.quality.repin`` shows the difference and writes them anew.
"""

from __future__ import annotations

from itertools import pairwise
from statistics import median

import pytest

from reducer.core.case import Case, Ref, node_references
from reducer.core.order import sort_key
from reducer.core.signature import signature_of
from reducer.core.verdict import Verdict
from reducer.deltas import DELTAS
from reducer.graph.topology import output_names
from reducer.search.bound import calls_bound
from tests.quality.planted import WANTED, PlantedOracle, Reduced, Values, reduce_planted
from tests.quality.repin import KEYS, calls, key, load_pins, reduced
from tests.quality.scenarios import SCENARIOS, chain, has

PINS = load_pins()
#: (scenario, time that it takes if two calls run at a time, in units of one call; calls begun in vain)
TWO_AT_A_TIME = [
    ("adjacent pair", 14, 2),
    ("three far apart", 32, 9),
    ("two outputs", 23, 5),
    ("a dtype", 12, 4),
]
every_run = pytest.mark.parametrize(("name", "named"), KEYS, ids=[key(*item) for item in KEYS])


@every_run
def test_it_becomes_this_small(name: str, named: bool) -> None:
    scenario, best = SCENARIOS[name], reduced(name, named).best
    size = (best.operators, len(best.graph.inputs), len(best.graph.outputs))
    assert size == scenario.size, best
    assert scenario.holds(best), best


@every_run
def test_it_takes_so_many_calls(name: str, named: bool) -> None:
    assert calls(name, named) == PINS[key(name, named)], "python -m tests.quality.repin"


def test_calls_are_close_to_what_a_search_without_knowledge_needs() -> None:
    ratios = []
    for item in KEYS:
        found = reduced(*item)
        left = len({line.element for line in found.certificate})
        ratios.append(found.calls / calls_bound(found.reduction.elements, left))
    assert median(ratios) <= 1.3
    assert max(ratios) <= 2.5


@every_run
def test_every_step_fails_as_wanted_and_is_simpler(name: str, named: bool) -> None:
    found = reduced(name, named)
    oracle = PlantedOracle(SCENARIOS[name].failure)
    assert [oracle(case).verdict for case in found.history] == [Verdict.SAME] * len(found.history)
    keys = [sort_key(case) for case in found.history]
    assert all(later < earlier for earlier, later in pairwise(keys))
    assert found.history[-1] == found.best


@every_run
def test_the_certificate_is_complete_and_true(name: str, named: bool) -> None:
    check_certificate(reduced(name, named), SCENARIOS[name].failure)


def check_certificate(found: Reduced, fails: object) -> None:
    """Every change that is left was tried, by itself, and none of them keeps the failure."""
    best, oracle = found.best, PlantedOracle(fails)  # type: ignore[arg-type]
    seen = {(item.element, item.delta): item.verdict for item in found.certificate}
    assert Verdict.SAME not in seen.values()
    for delta in DELTAS:
        for edit in delta.edits(best):
            candidate = delta.apply(best, [edit])
            if candidate is not None and sort_key(candidate) < sort_key(best):
                assert seen[edit.element, f"{delta.NAME}: {edit.what}"] is oracle(candidate).verdict
    elements = {item.element for item in found.certificate}
    assert {node.name for node in best.graph.nodes} <= elements
    assert {f"input {item.name}" for item in best.graph.inputs} <= elements


@pytest.mark.parametrize(("name", "time", "abandoned"), TWO_AT_A_TIME)
def test_two_at_a_time_end_with_the_same_sooner(name: str, time: int, abandoned: int) -> None:
    one, two = reduced(name, True), reduced(name, True, jobs=2)
    assert (two.best, two.calls, one.time) == (one.best, one.calls, one.calls)
    assert (two.time, two.abandoned) == (time, abandoned)


def test_no_pin_is_left_over() -> None:
    assert set(PINS) == {key(*item) for item in KEYS}


# Two bugs in one model.

BOTH = chain({30: "tan", 90: "cos"})


def two_bugs(case: Case, values: Values) -> str:
    """``cos`` hides ``tan``: what is raised first is what one sees."""
    return WANTED if has(case, "cos") else "other" if has(case, "tan") else ""


@pytest.mark.parametrize("partition", [(), ("n30",), tuple(f"n{n}" for n in range(20, 100))])
def test_another_bug_is_not_followed_but_remembered(partition: tuple[str, ...]) -> None:
    found = reduce_planted(BOTH, two_bugs, partition)
    assert has(found.best, "cos")
    assert not has(found.best, "tan")
    assert found.best.operators == 1
    [slipped] = found.reduction.slips.values()
    assert has(slipped.case, "tan")
    assert not has(slipped.case, "cos")
    assert slipped.case.operators < BOTH.operators
    assert PlantedOracle(two_bugs)(slipped.case).verdict is Verdict.OTHER
    assert slipped.attempt.failure is not None
    assert "other" in slipped.attempt.failure.headline
    assert list(found.reduction.slips) == [signature_of(slipped.attempt.failure)]
    check_certificate(found, two_bugs)


def test_of_another_bug_the_smallest_case_is_kept() -> None:
    found = reduce_planted(BOTH, two_bugs, ("n30",))  # that the fault was thought to be there
    [slipped] = found.reduction.slips.values()
    assert slipped.case.operators == 1


def test_a_case_that_does_not_fail_again_is_said_to_be_none() -> None:
    from reducer.core.wire import Attempt
    from reducer.workflows.reduction import Reduction
    from reducer.workflows.strategy import isolate

    reduction = Reduction(PlantedOracle(lambda case, values: ""))
    assert not isolate(reduction, BOTH, Attempt(), lambda _: None)
    assert not reduction.found


def test_two_runs_are_the_same() -> None:
    one, other = (reduce_planted(BOTH, two_bugs) for _ in range(2))
    assert (one.best, one.certificate, one.calls) == (other.best, other.certificate, other.calls)


def test_the_models_have_what_the_bugs_need() -> None:
    for name, scenario in SCENARIOS.items():
        assert PlantedOracle(scenario.failure)(scenario.case).verdict is Verdict.SAME, name
        graph = scenario.case.graph
        assert scenario.case.operators >= 128
        made = {node.name for node in graph.nodes}
        assert set(scenario.partition) <= made
        read = {ref for node in graph.nodes for ref in node_references(node)}
        assert made - read <= set(output_names(graph))
        assert all(isinstance(output, Ref) for output in graph.outputs)
