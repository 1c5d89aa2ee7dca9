"""Which passes are run alone, from which graph on, and what is said where none shows the failure?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from reducer.core.diagnosis import Explanation, PassRun, Violation
from reducer.core.finding import PassLevel
from reducer.core.recipe import Construct, Recipe
from reducer.core.signature import ChainLink, Failure, Frame
from reducer.core.stage import Stage
from reducer.core.wire import Attempt, Environment, JudgeJob, Limits, PassGraph, PassGraphJob
from reducer.oracle.store import Store
from reducer.workflows.pass_level import PassSearch, pass_level
from tests.graph.small_cases import call, case, given

CASE = case((given("x"), given("y")), (call("a", "relu", "%x"), call("b", "add", "%a", "%y")), "%b")
BROKEN = Violation("metadata", "a shape is wrong")
RAISED = Failure(
    Stage.TO_EDGE, (ChainLink("ValueError", "bad", (Frame("executorch.exir.a", "call", 3),)),)
)


def run(index: int, name: str, **more: Any) -> PassRun:
    made = Construct(f"package.passes:{name}")
    return PassRun(index, name, "package.passes", f"package.passes:{name}.call", Stage.TO_EDGE,
                   **{"construct": made, **more})  # fmt: skip


@pytest.fixture
def search(tmp_path: Path) -> Callable[..., PassSearch]:
    """A search whose worker judges with ``fails``, which is given each case."""

    def make(fails: Callable[..., Failure | None]) -> PassSearch:
        def answer(job: object, _: Limits) -> SimpleNamespace:
            result: object
            if isinstance(job, PassGraphJob):
                result = PassGraph(replace(CASE, recipe=Recipe(last_stage=Stage.TO_EDGE)))
            else:
                assert isinstance(job, JudgeJob)
                assert job.case.recipe.alone is not None
                result = Attempt(fails(job.case, job.oracle))
            return SimpleNamespace(result=result, seconds=0.0)

        worker = SimpleNamespace(
            environment=Environment(), run=answer, submit=answer, wait=lambda found: found
        )
        return PassSearch(worker, Store(tmp_path / "store"), tmp_path, Limits())  # type: ignore[arg-type]

    return make


def broken(_: object, oracle: str) -> Failure | None:
    return Failure(Stage.TO_EDGE, (ChainLink(oracle, BROKEN.what),)) if oracle else None


def called(level: PassLevel) -> tuple[str, list[str]]:
    assert level.case is not None
    assert level.case.recipe.alone is not None
    alone = level.case.recipe.alone
    return alone.name, [item.path.rpartition(":")[2] for item in alone.after]


def test_the_innermost_pass_that_breaks_it_is_run_and_its_graph_reduced(search: Any) -> None:
    runs = (run(0, "Outer"), run(1, "Inner", parent=0, violations=(BROKEN,)))
    level = pass_level(Explanation(runs=runs, culprit=1, broken=BROKEN), CASE, search(broken))
    assert called(level) == ("Inner", [])
    assert (level.oracle, level.status, level.reason) == ("metadata", "unconfirmed", "")
    assert level.case is not None
    assert level.case.operators < CASE.operators


def test_what_cannot_be_constructed_gives_way_to_what_it_is_nested_in(search: Any) -> None:
    inner = run(1, "Inner", parent=0, construct=None, arguments=("Thing",), violations=(BROKEN,))
    found = Explanation(runs=(run(0, "Outer"), inner), culprit=1, broken=BROKEN)
    assert called(pass_level(found, CASE, search(broken))) == ("Outer", [])
    alone = Explanation(runs=(run(0, "Outer", construct=None), inner), culprit=1, broken=BROKEN)
    level = pass_level(alone, CASE, search(broken))
    assert level.case is None
    assert "no call is known that constructs Inner, which was made from (Thing)" in level.reason
    assert "no call is known that constructs Outer" in level.reason


def test_a_pass_that_reads_what_earlier_ones_note_is_run_after_those_that_matter(
    search: Any,
) -> None:
    names = ["A", "Notes", "B", "C", "Guilty"]
    runs = tuple(run(number, name) for number, name in enumerate(names))

    def needs_notes(case: Any, _: str) -> Failure | None:
        after = [item.path for item in case.recipe.alone.after]
        return RAISED if "package.passes:Notes" in after else None

    found = Explanation(failure=RAISED, runs=runs, raised=4)
    assert called(pass_level(found, CASE, search(needs_notes))) == ("Guilty", ["Notes"])


def test_another_failure_of_the_pass_alone_does_not_count(search: Any) -> None:
    other = replace(RAISED, chain=(ChainLink("KeyError", "spec"),))
    found = Explanation(failure=RAISED, runs=(run(0, "Guilty"),), raised=0)
    level = pass_level(found, CASE, search(lambda *_: other))
    assert level.case is None
    assert "fails in another way: KeyError: spec" in level.reason
    assert "does no harm" in pass_level(found, CASE, search(lambda *_: None)).reason


def test_the_invariant_that_is_asked_for_decides_which_pass_it_is(search: Any) -> None:
    flag = Violation("shared-state", "a flag is changed")
    runs = (run(0, "First", violations=(BROKEN,)), run(1, "Flips", violations=(flag,)))
    found = Explanation(runs=runs, culprit=0, broken=BROKEN)

    def both(_: object, oracle: str) -> Failure:
        what = {"shared-state": flag.what}.get(oracle, BROKEN.what)
        return Failure(Stage.TO_EDGE, (ChainLink(oracle, what),))

    assert called(pass_level(found, CASE, search(both))) == ("First", [])
    assert called(pass_level(found, CASE, search(both), "shared-state")) == ("Flips", [])


@pytest.mark.parametrize(
    ("explanation", "reason"),
    [
        (
            Explanation(failure=RAISED, runs=(run(0, "A"),)),
            "raised outside of every pass that was watched, in executorch.exir.a:call",
        ),
        (Explanation(input_violations=(BROKEN,)), "handed in is at fault"),
        (Explanation(), "no pass breaks what was watched"),
        (
            Explanation(failure=RAISED, runs=(run(0, "A", takes="more"),), raised=0),
            "A cannot be run on a graph alone: it is called with more",
        ),
    ],
)
def test_where_no_pass_can_be_run_alone_it_is_said_why(
    explanation: Explanation, reason: str, search: Any
) -> None:
    level = pass_level(explanation, CASE, search(broken))
    assert level.case is None
    assert not level.shown
    assert reason in level.reason
