"""Which verdict does each answer of the worker mean, and what is paid for it?"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from reducer.core.case import Case, Graph, Input, Node, Ref, TensorSpec
from reducer.core.errors import WorkerDied
from reducer.core.recipe import Recipe
from reducer.core.signature import ChainLink, Failure, MatchRule, signature_of
from reducer.core.stage import Stage
from reducer.core.verdict import Verdict
from reducer.core.wire import (
    Attempt,
    Backends,
    Broken,
    Death,
    Environment,
    Job,
    JudgeJob,
    Limits,
    Refused,
    Result,
    Spelled,
)
from reducer.oracle.judge import Judge
from reducer.oracle.repeated import Rate, rate
from reducer.oracle.store import Store
from reducer.oracle.worker import Answer
from reducer.search.budget import Budget, BudgetSpent


def failure(message: str) -> Attempt:
    link = ChainLink("RuntimeError", message)
    return Attempt(
        Failure(Stage.PREPROCESS, (link,)), seconds=(("export", 0.5), ("preprocess", 2.0))
    )


WANTED = failure("the wanted one")
OTHER = failure("another")
HERE = Environment("3.11", "2.13", "1.5", "linux")
EXACT = MatchRule()


def case(operator: str = "sin") -> Case:
    node = Node("n", f"aten.{operator}.default", (Ref("x"),))
    given = Input("x", "input", TensorSpec((1,), "float32"))
    return Case(Graph((given,), (node,), (Ref("n"),)), Recipe())


@dataclass
class FakeWorker:
    """Gives the answers it was told, by operator; remembers what it was asked."""

    answers: dict[str, Result]
    environment: Environment = HERE
    asked: list[tuple[Job, Limits]] = field(default_factory=list)
    cancelled: list[int] = field(default_factory=list)

    def submit(self, job: Job, limits: Limits) -> int:
        self.asked.append((job, limits))
        return len(self.asked) - 1

    def wait(self, number: int) -> Answer:
        job, _ = self.asked[number]
        assert isinstance(job, JudgeJob)
        name = job.case.graph.nodes[0].target.split(".")[1]
        return Answer(self.answers[name], 3.0)

    def cancel(self, number: int) -> None:
        self.cancelled.append(number)


def judge(
    folder: Path, answers: dict[str, Result] | FakeWorker, *, rule: MatchRule = EXACT,
    seconds: float = 60.0, calls: int | None = None, spare: int = 0,
) -> Judge:  # fmt: skip
    worker = answers if isinstance(answers, FakeWorker) else FakeWorker(answers)
    assert WANTED.failure is not None
    return Judge(
        worker,  # type: ignore[arg-type]
        Store(folder / "store.sqlite"),
        Budget(lambda: 0.0, calls),
        data_dir=folder,
        wanted=signature_of(WANTED.failure),
        rule=rule,
        limits=Limits(seconds),
        spare=spare,
    )


#: (answer, verdict, what is told)
ANSWERS = [
    (WANTED, Verdict.SAME, "RuntimeError: the wanted one"),
    (OTHER, Verdict.OTHER, "RuntimeError: another"),
    (Attempt(), Verdict.PASSES, "passes"),
    (Attempt(invalid="does not export"), Verdict.INVALID, "does not export"),
    (Refused("no such operator"), Verdict.INVALID, "no such operator"),
    (Death("timeout", "60 s"), Verdict.TIMEOUT, "timeout 60 s"),
    (Death("signal", "SIGSEGV", Stage.PREPROCESS), Verdict.CRASH, "signal SIGSEGV"),
    (Death("memory", "512 MiB"), Verdict.CRASH, "memory 512 MiB"),
    (Death("exit", "3"), Verdict.CRASH, "exit 3"),
]


@pytest.mark.parametrize(("answer", "verdict", "detail"), ANSWERS, ids=[str(r[2]) for r in ANSWERS])
def test_an_answer_means_this_verdict_and_is_stored(
    answer: Result, verdict: Verdict, detail: str, tmp_path: Path
) -> None:
    oracle = judge(tmp_path, {"sin": answer})
    first, second = oracle(case()), oracle(case())
    assert (first.verdict, first.detail, first.seconds, first.stored) == (
        verdict,
        detail,
        3.0,
        False,
    )
    paid = int(verdict.paid)
    assert (first.calls, second) == (paid, replace(first, stored=True, calls=0))
    assert len(oracle.worker.asked) == 1  # type: ignore[attr-defined]
    counts = oracle.counts
    assert (counts.paid, counts.refused) == ((0, 1) if verdict is Verdict.INVALID else (1, 0))
    assert (counts.stored, counts.repeated, counts.seconds) == (1, 0, 3.0)
    assert counts.gates["seen"] == 1
    assert len(counts.cases) == paid
    assert counts.verdicts == {verdict: 2}
    assert oracle.budget.paid == counts.paid


def test_seconds_are_counted_by_stage(tmp_path: Path) -> None:
    oracle = judge(tmp_path, {"sin": WANTED, "cos": OTHER, "tan": Death("exit", "1")})
    for name in ("sin", "cos", "tan", "sin"):
        oracle(case(name))
    assert oracle.counts.stages == {"export": 1.0, "preprocess": 4.0}


def test_what_refused_a_case_is_counted(tmp_path: Path) -> None:
    answers: dict[str, Result] = {
        "sin": Attempt(invalid="shapes do not fit", gate="export"),
        "cos": Attempt(invalid="of an older version"),
        "tan": Refused("the property cannot be asked"),
        "exp": WANTED,
    }
    oracle = judge(tmp_path, answers)
    for name in ("sin", "cos", "tan", "exp", "sin"):
        oracle(case(name))
    assert oracle.counts.gates == {"export": 1, "other": 1, "run": 1, "seen": 1}
    assert (oracle.counts.refused, oracle.counts.paid) == (3, 1)


def test_a_later_run_counts_as_the_one_that_paid(tmp_path: Path) -> None:
    first = judge(tmp_path, {"sin": WANTED, "cos": Attempt(invalid="no", gate="export")})
    later = judge(tmp_path, {})
    for oracle in (first, later):
        assert [oracle(case(name)).calls for name in ("sin", "cos", "sin")] == [1, 0, 0]
    assert (first.counts.paid, first.counts.resumed) == (1, 0)
    assert (later.counts.paid, later.counts.resumed) == (0, 1)
    for known in ("gates", "cases", "seconds", "stages", "verdicts", "repeated"):
        assert getattr(later.counts, known) == getattr(first.counts, known), known


def test_the_worker_gets_the_case_the_folder_and_the_limits(tmp_path: Path) -> None:
    oracle = judge(tmp_path, {"sin": WANTED}, seconds=7.5)
    oracle(case())
    assert oracle.worker.asked == [(JudgeJob(case(), str(tmp_path)), Limits(7.5))]  # type: ignore[attr-defined]


def test_a_case_under_other_names_is_not_paid_for_again(tmp_path: Path) -> None:
    oracle = judge(tmp_path, {"sin": WANTED})
    oracle(case())
    graph = case().graph
    renamed = Graph(
        (replace(graph.inputs[0], name="y"),),
        (replace(graph.nodes[0], name="m", args=(Ref("y"),), module="a.b"),),
        (Ref("m"),),
    )
    assert oracle(Case(renamed, Recipe())).stored


def test_another_rule_reads_the_stored_answers_anew(tmp_path: Path) -> None:
    first = judge(tmp_path, {"sin": OTHER})
    assert first(case()).verdict is Verdict.OTHER
    first.store.close()
    later = judge(tmp_path, {}, rule=MatchRule("type"))
    again = later(case())
    assert (again.verdict, again.stored) == (Verdict.SAME, True)


def test_other_versions_are_paid_for(tmp_path: Path) -> None:
    judge(tmp_path, {"sin": WANTED})(case())
    later = FakeWorker({"sin": Attempt()}, Environment("3.11", "2.14", "1.6", "linux"))
    assert judge(tmp_path, later)(case()).verdict is Verdict.PASSES


def test_a_timeout_is_tried_again_only_with_more_time(tmp_path: Path) -> None:
    short = Death("timeout", "60 s")
    assert judge(tmp_path, {"sin": short})(case()).verdict is Verdict.TIMEOUT
    for seconds in (60.0, 30.0):
        again = judge(tmp_path, {}, seconds=seconds)(case())
        assert (again.verdict, again.stored) == (Verdict.TIMEOUT, True)
    longer = judge(tmp_path, {"sin": WANTED}, seconds=60.5)(case())
    assert (longer.verdict, longer.stored) == (Verdict.SAME, False)
    assert judge(tmp_path, {}, seconds=600)(case()).verdict is Verdict.SAME


def test_no_call_is_made_that_the_budget_does_not_allow(tmp_path: Path) -> None:
    oracle = judge(tmp_path, {"sin": WANTED, "cos": Attempt(invalid="no"), "tan": OTHER}, calls=1)
    oracle(case("cos"))  # costs nothing
    oracle(case("sin"))
    assert oracle(case("sin")).stored  # nor does this
    with pytest.raises(BudgetSpent):
        oracle(case("tan"))
    assert len(oracle.worker.asked) == 2  # type: ignore[attr-defined]


def test_a_bug_in_the_worker_ends_the_run_and_is_not_stored(tmp_path: Path) -> None:
    oracle = judge(tmp_path, {"sin": Broken("Traceback\nKeyError: 'x'\n")})
    with pytest.raises(WorkerDied, match="bug in reducer") as died:
        oracle(case())
    assert died.value.hint == "KeyError: 'x'"
    assert len(oracle.store) == 0


@pytest.mark.parametrize("answer", [Spelled(), Backends()])
def test_an_answer_to_another_question_is_a_bug(answer: Result, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="judge job"):
        judge(tmp_path, {"sin": answer})(case())


# What is asked next is begun before it is asked.


def asked(worker: FakeWorker) -> list[str]:
    jobs = [job for job, _ in worker.asked if isinstance(job, JudgeJob)]
    return [job.case.graph.nodes[0].target.split(".")[1] for job in jobs]


def test_what_comes_next_is_begun_and_paid_for_when_it_is_asked(tmp_path: Path) -> None:
    worker = FakeWorker(dict.fromkeys(("sin", "cos", "tan"), OTHER))
    oracle = judge(tmp_path, worker, spare=1)
    sweep = [(case("cos"), 0), (case("tan"), 0)]
    oracle(case("sin"), then=sweep)
    assert (asked(worker), oracle.counts.paid) == (["sin", "cos"], 1)
    oracle(case("cos"), then=sweep[1:])
    oracle(case("tan"))
    assert (asked(worker), oracle.counts.paid) == (["sin", "cos", "tan"], 3)
    assert (oracle.counts.abandoned, worker.cancelled) == (0, [])


def test_what_was_begun_in_vain_is_ended_and_not_stored(tmp_path: Path) -> None:
    worker = FakeWorker(dict.fromkeys(("sin", "cos", "tan"), WANTED))
    oracle = judge(tmp_path, worker, spare=1)
    oracle(case("sin"), then=[(case("cos"), 0)])
    oracle(case("tan"))
    assert (worker.cancelled, oracle.counts.abandoned, oracle.counts.paid) == ([1], 1, 2)
    oracle(case("cos"))
    assert asked(worker) == ["sin", "cos", "tan", "cos"]


def test_what_is_known_is_not_begun(tmp_path: Path) -> None:
    worker = FakeWorker(dict.fromkeys(("sin", "cos", "tan"), OTHER))
    oracle = judge(tmp_path, worker, spare=1)
    oracle(case("cos"))
    oracle(case("sin"), then=[(case("cos"), 0), (case("tan"), 0)])
    oracle(case("cos"))  # from the store: no reason to give up on what was begun
    oracle(case("tan"))
    assert (asked(worker), oracle.counts.abandoned) == (["cos", "sin", "tan"], 0)


def test_further_runs_of_a_case_are_begun_as_well(tmp_path: Path) -> None:
    worker = FakeWorker({"sin": WANTED})
    oracle = judge(tmp_path, worker, spare=1)
    assert rate(oracle, case(), 4) == Rate(4, 4)
    assert (len(worker.asked), oracle.counts.abandoned, oracle.counts.paid) == (4, 0, 4)


def test_a_call_that_may_not_be_paid_is_not_made(tmp_path: Path) -> None:
    worker = FakeWorker(dict.fromkeys(("sin", "cos"), OTHER))
    oracle = judge(tmp_path, worker, calls=1, spare=1)
    oracle(case("sin"), then=[(case("cos"), 0)])
    with pytest.raises(BudgetSpent):
        oracle(case("cos"))
    assert asked(worker) == ["sin"]
