"""What do the log, the rows and the table say? Without torch: a planted oracle in place of the judge."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from reducer.core.case import Case
from reducer.core.verdict import Verdict
from reducer.core.wire import Attempt
from reducer.oracle.judge import Judgement
from reducer.search.budget import Budget, BudgetSpent
from tests.bench import table
from tests.bench.ablations import without_gate
from tests.bench.oracle import Oracle, Step
from tests.bench.plot import curve
from tests.bench.run import Row, row
from tests.bench.task import Task, without_regions
from tests.bench.tools import load
from tests.quality.planted import PlantedOracle
from tests.quality.scenarios import SCENARIOS

SCENARIO = SCENARIOS["adjacent pair"]


class PlantedJudge:
    """Judges like the product without a store: what was asked before is judged, and paid, again."""

    def __init__(self, calls: int | None = None) -> None:
        self.budget = Budget(lambda: 0.0, calls)

    def __call__(self, case: Case, then: object = ()) -> Judgement:
        self.budget.check()
        judgement = PlantedOracle(SCENARIO.failure)(case)
        if judgement.verdict.paid:
            self.budget.pay()
        return judgement


def task(tmp_path: Path, calls: int | None = None) -> Task:
    judge: Any = PlantedJudge(calls)
    attempt = Attempt(partition=SCENARIO.partition)
    return Task(SCENARIO.case, attempt, Oracle(judge, tmp_path), tmp_path, tmp_path)


@pytest.mark.parametrize("tool", ["Lithium", "CDD"])
def test_a_tool_removes_calls_of_a_case(tool: str, tmp_path: Path) -> None:
    work = task(tmp_path)
    found = load(tool).run(work)
    assert [node.name for node in found.graph.nodes] == ["n41", "n42"]
    line = row("case", tool, work.oracle, 1.0, found, True)
    assert line.operators == 2
    assert line.unique <= line.calls == len(work.oracle.paid)
    assert line.steps[-1] == Step(line.steps[-1].at, line.last_win, 2)
    assert [step.operators for step in line.steps] == sorted(
        {step.operators for step in line.steps}, reverse=True
    )


def test_two_bisections_of_a_case_leave_a_cone_without_its_front(tmp_path: Path) -> None:
    found = load("two bisections").run(task(tmp_path))
    assert {"n41", "n42"} <= {node.name for node in found.graph.nodes}
    assert found.operators < SCENARIO.case.operators


def test_ours_is_what_the_product_does(tmp_path: Path) -> None:
    work = task(tmp_path)
    found = load("ours").run(work)
    assert found.operators == 2
    blind = task(tmp_path)
    load("ours").run(replace(blind, attempt=without_regions(blind.attempt)))
    assert len(blind.oracle.paid) > len(work.oracle.paid)


def test_a_budget_ends_a_tool_and_the_best_so_far_is_known(tmp_path: Path) -> None:
    work = task(tmp_path, calls=10)
    with pytest.raises(BudgetSpent):
        load("ddmin").run(work)
    assert len(work.oracle.paid) == 10
    assert work.oracle.best is not None
    assert work.oracle.best.operators == work.oracle.steps[-1].operators


def test_a_repeated_question_is_a_call_but_not_unique(tmp_path: Path) -> None:
    work = task(tmp_path)
    for _ in range(3):
        assert work.oracle(work.case).verdict is Verdict.SAME
    line = row("case", "tool", work.oracle, 1.0, work.case, True)
    assert (line.calls, line.unique, line.last_win) == (3, 1, 1)


def test_a_script_that_does_not_reach_lowering_is_refused(tmp_path: Path) -> None:
    from reducer.core.signature import ChainLink, Failure, MatchRule, signature_of
    from reducer.core.stage import Stage
    from reducer.core.wire import Capture, Death, Refused

    wanted = Failure(Stage.PREPROCESS, (ChainLink("RuntimeError", "planted"),))
    other = replace(wanted, chain=(ChainLink("ValueError", "something else"),))
    early = replace(wanted, stage=Stage.EXPORT)
    answers = iter([
        Capture(SCENARIO.case, Attempt(wanted)), Capture(SCENARIO.case, Attempt(other)),
        Capture(None, Attempt(early)), Capture(SCENARIO.case, Attempt()), Refused("no Python"),
        Death("signal", "SIGSEGV"),
    ])  # fmt: skip
    worker = SimpleNamespace(run=lambda job, limits: SimpleNamespace(result=next(answers)))
    judge: Any = SimpleNamespace(
        budget=Budget(lambda: 0.0), worker=worker, limits=None, rule=MatchRule(),
        wanted=signature_of(wanted),
    )  # fmt: skip
    oracle = Oracle(judge, tmp_path)
    assert [oracle.script(f"text {number}") for number in range(6)] == [True] + [False] * 5
    assert [call.verdict for call in oracle.log] == [
        Verdict.SAME, Verdict.OTHER, Verdict.INVALID, Verdict.PASSES, Verdict.INVALID, Verdict.CRASH
    ]  # fmt: skip
    assert judge.budget.paid == 4
    assert oracle.best == SCENARIO.case


def test_the_script_for_shrink_ray_is_python_that_spells_calls_as_they_are(tmp_path: Path) -> None:
    from reducer.core.signature import ChainLink, Failure
    from reducer.core.stage import Stage
    from reducer.core.wire import Environment
    from tests.bench.tools.shrinkray import text_of

    work = task(tmp_path)
    judge: Any = work.oracle.judge
    judge.worker = SimpleNamespace(environment=Environment())
    failure = Failure(Stage.PREPROCESS, (ChainLink("RuntimeError", "planted"),))
    text = text_of(replace(work, attempt=Attempt(failure)))
    compile(text, "script.py", "exec")
    assert text.count("torch.ops.aten.cos.default(") == 1
    assert "safetensors" not in text  # it stands alone
    assert text.rstrip().endswith("lower()")


OURS = Row("a", "ours", 2, calls=6, unique=6, refused=1, seconds=3.0, last_win=3, same=True)
OTHER = Row("a", "slow", 1, calls=30, unique=20, refused=4, seconds=60.0, last_win=9, same=True)


def test_a_limit_is_marked() -> None:
    text = table.line(replace(OTHER, stopped="--max-calls 30 reached"))
    assert ">30" in text.split()
    assert ">60.0" in text.split()
    assert len(table.HEAD.split("  same")[0]) == len(text.split("  yes")[0])


def test_a_tool_that_cannot_do_a_case_says_why() -> None:
    assert table.line(Row("a", "b", problem="ImportError: no")).endswith("-  ImportError: no")


def test_medians_of_repeats() -> None:
    rows = [
        replace(OURS, seconds=seconds, calls=calls) for seconds, calls in ((9, 6), (1, 8), (2, 7))
    ]
    found = table.medians(rows)
    assert (found.seconds, found.calls, found.same) == (2, 7, True)
    assert table.medians([*rows, replace(OURS, same=False)]).same is False
    assert table.medians([OURS, Row("a", "ours", problem="dead")]).problem == "dead"


def test_ratios_say_where_ours_is_larger() -> None:
    _, line = table.ratios([OURS, OTHER], "ours")
    assert line.split()[2:4] == ["0.20", "0.05"]
    assert line.endswith("MORE: 2 against 1")
    _, line = table.ratios([OURS, replace(OTHER, operators=3, stopped="calls")], "ours")
    assert line.split()[2:4] == ["<0.20", "<0.05"]
    assert line.endswith("2 against 3")
    _, line = table.ratios([OURS, replace(OTHER, same=False)], "ours")
    assert line.endswith("it has none that fails the same")


def test_without_the_gate_every_candidate_is_a_call() -> None:
    assert without_gate(OURS) == replace(OURS, calls=7, unique=7, refused=0)


def test_a_curve_ends_where_the_tool_does() -> None:
    steps = (Step(0.5, 1, 10), Step(1.0, 2, 4))
    assert curve(replace(OURS, steps=steps)) == ([0.5, 1.0, 3.0], [10, 4, 4])


def test_a_picture_is_written(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from tests.bench.plot import plot

    plot([replace(OURS, steps=(Step(0.5, 1, 10),)), OTHER], tmp_path / "sizes.svg")
    assert "<svg" in (tmp_path / "sizes.svg").read_text()


def test_rows_can_be_kept_as_json() -> None:
    assert json.loads(json.dumps(asdict(OURS)))["seconds"] == 3.0
