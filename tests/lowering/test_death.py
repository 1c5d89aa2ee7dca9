"""What was a job doing when it died, as far as it had said?"""

from __future__ import annotations

import sys

import pytest

from reducer.core import text
from reducer.core.case import Case, Graph
from reducer.core.kind import Kind
from reducer.core.recipe import Recipe
from reducer.core.signature import Frame, MatchRule, signature_of
from reducer.core.stage import Stage
from reducer.core.wire import Attempt, Capture
from reducer.lowering.death import death, stands_still
from reducer.lowering.line import STILL

ROOT = sys.path[-1].rstrip("/")
STAGES = "stage load 10.0\nstage export 11.5\nstage to_edge 13.5\n"


def stack(*calls: str, head: str = "Sample (most recent call first):") -> str:
    """A dump; calls are ``file:line:function``, innermost first."""
    rows = (call.split(":") for call in calls)
    return (
        head + "\n" + "".join(f'  File "{ROOT}/{f}", line {n} in {c}\n' for f, n, c in rows) + "\n"
    )


FATAL = "Fatal Python error: Segmentation fault\n\nCurrent thread 0x01 (most recent call first):"


def test_a_signal_is_a_failure_with_its_place() -> None:
    dump = stack("torch/nn.py:7:inner", "reducer/lowering/judge.py:3:judge", head=FATAL)
    found = death("signal", "SIGSEGV", STAGES + dump, "", "")
    assert found.stage is Stage.TO_EDGE
    assert found.seconds == (("load", 1.5), ("export", 2.0))
    failure = found.failure
    assert failure is not None
    assert failure.kind is Kind.DIES
    assert failure.chain[0].frames == (Frame("torch.nn", "inner", 7),)
    assert failure.headline == "SIGSEGV: in torch.nn:inner"


def test_the_stage_is_read_off_the_stack() -> None:
    dump = stack(
        "executorch/exir/backend/backend_api.py:9:lower_all_submodules_to_backend", head=FATAL
    )
    failure = death("signal", "SIGABRT", STAGES + dump, "", "").failure
    assert failure is not None
    assert failure.stage is Stage.PREPROCESS


def test_in_the_runtime_its_log_says_why_and_no_stack_does() -> None:
    log = "[tensor_impl.h:136] assert failed (dim < 3)\n"
    dump = stack("torch/nn.py:7:inner", head=FATAL)
    failure = death("signal", "SIGABRT", "stage execute 1.0\n" + dump, "", log).failure
    assert failure is not None
    assert failure.chain[0].message == log.strip()
    assert failure.chain[0].frames == ()


def test_a_hang_stands_where_all_its_stacks_are() -> None:
    dumps = [
        stack(f"torch/a.py:{n}:helper{n}", "torch/b.py:5:loop", "torch/c.py:1:call")
        for n in range(4)
    ]
    first, second = (
        death("timeout", f"{s} s", STAGES + "".join(dumps[:k]), "", "").failure
        for s, k in ((20, 3), (30, 4))
    )
    assert first is not None and second is not None  # noqa: PT018
    assert [frame.function for frame in first.chain[0].frames] == ["call", "loop"]
    assert (first.kind, first.allowed, first.headline) == (
        Kind.HANGS,
        20.0,
        "Hang: no end after 20 s",
    )
    assert MatchRule().same(signature_of(first), second)
    assert signature_of(first).raised_in == "torch.b:loop"


@pytest.mark.parametrize(
    ("kind", "detail", "told", "how"),
    [("exit", "3", "ExitCode3", Kind.DIES), ("memory", "2048 MiB", "OutOfMemory", Kind.MEMORY)],
)
def test_other_ends(kind: str, detail: str, told: str, how: Kind) -> None:
    failure = death(kind, detail, STAGES, "", "").failure
    assert failure is not None
    assert (failure.chain[0].type, failure.kind) == (told, how)
    if kind == "memory":
        assert failure.allowed == 2 << 30


def test_before_any_stage_it_is_no_failure_of_a_program() -> None:
    assert death("exit", "3", "", "", "").failure is None


def test_what_was_captured_by_then_is_kept() -> None:
    case = Case(Graph((), (), ()), Recipe("first"))
    early, late = Capture(case, Attempt()), Capture(Case(case.graph, Recipe("second")), Attempt())
    said = f"{text.dumps(early)}\nstage to_edge 1.0\n{text.dumps(late)}\n" + '{"_": "Capture", "ca'
    assert death("signal", "SIGKILL", said, "", "").captured == late


def test_a_stack_that_moves_does_not_stand_still() -> None:
    same = stack("torch/a.py:1:f")
    moved = stack("torch/a.py:2:f")
    assert stands_still(same * (STILL + 1))
    assert not stands_still(same * STILL)
    assert not stands_still(same * STILL + moved)
    assert stands_still(moved + same * (STILL + 1))


def test_a_slow_loop_that_mostly_stands_on_one_line_is_no_hang() -> None:
    mostly = (stack("torch/a.py:1:f") * (STILL // 2) + stack("torch/a.py:2:f")) * 20
    assert not stands_still(mostly)
