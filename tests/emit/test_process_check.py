"""Does a script see how a process of its own ends: by a signal, a hang, memory, the runtime's log?"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from emit_cases import case

from reducer.core.case import Case
from reducer.core.finding import Finding
from reducer.core.kind import Kind
from reducer.core.recipe import Recipe
from reducer.core.signature import ChainLink, Failure, Frame, MatchRule, signature_of
from reducer.core.stage import Stage
from reducer.core.wire import Environment
from reducer.emit.repro_script import render

# Stand-ins for torch and executorch, importable by the script and by the process that it starts.
TORCH = """
import types
class Module:
    def eval(self): return self
nn = types.SimpleNamespace(Module=Module)
export = types.SimpleNamespace(export=lambda *a, **k: None)
def zeros(*size): return size
"""
EXIR = """
import ctypes, os, sys, time
class Edge:
    buffer = b""
    def to_executorch(self): return self
def fail():
    FAIL
def to_edge_transform_and_lower(*a, **k):
    if WHERE == "lower": fail()
    return Edge()
"""
RUNTIME = """
from executorch.exir import WHERE, fail
class Runtime:
    @staticmethod
    def get(): return Runtime()
    def load_program(self, buffer): return self
    def load_method(self, name): return self
    def execute(self, inputs):
        if WHERE == "run": fail()
        return [0]
"""

LOG = "[op_x.cpp:7] Check failed (a == b): got 3\n[method.cpp:1] in operator aten::x.out: 0x12"
RAISED = ChainLink("RuntimeError", "method->execute() failed with error 0x12")
RAISES = f"""
    os.write(2, {LOG.encode()!r})
    raise RuntimeError("failed with error 0x12")"""

#: (failure, what the stand-in does, exit code with --expect-failure)
ENDS = [
    (Failure(Stage.EXECUTE, (RAISED, ChainLink("executorch runtime", LOG))), RAISES, 0),
    (Failure(Stage.EXECUTE, (RAISED, ChainLink("executorch runtime", LOG))),
     RAISES.replace("op_x", "op_y"), 2),
    (Failure(Stage.EXECUTE, (RAISED, ChainLink("executorch runtime", LOG))), "return", 1),
    (Failure(Stage.EXECUTE, (ChainLink("SIGABRT", "[a.cpp:1] assert failed (x)"),), kind=Kind.DIES),
     "os.write(2, b'[a.cpp:2] assert failed (x)'); os.abort()", 0),
    (Failure(Stage.EXECUTE, (ChainLink("SIGABRT", "[a.cpp:1] assert failed (x)"),), kind=Kind.DIES),
     "os.abort()", 2),
    (Failure(Stage.TO_EDGE, (ChainLink("SIGSEGV", "in a:fail", (Frame("a", "fail"),)),),
             kind=Kind.DIES), "ctypes.string_at(0)", 0),
    (Failure(Stage.TO_EDGE, (ChainLink("SIGSEGV", "in a:other", (Frame("a", "other"),)),),
             kind=Kind.DIES), "ctypes.string_at(0)", 2),
    (Failure(Stage.TO_EDGE, (ChainLink("SIGSEGV", ""),), kind=Kind.DIES), "os._exit(3)", 2),
    (Failure(Stage.TO_EDGE, (ChainLink("ExitCode3", ""),), kind=Kind.DIES), "os._exit(3)", 0),
    (Failure(Stage.TO_EDGE, (ChainLink("Hang", "no end after 1 s", (Frame("a", "fail"),)),),
             kind=Kind.HANGS, allowed=1.0), "time.sleep(600)", 0),
    (Failure(Stage.TO_EDGE, (ChainLink("Hang", "no end after 1 s", (Frame("a", "fail"),)),),
             kind=Kind.HANGS, allowed=1.0), "return", 1),
    (Failure(Stage.TO_EDGE, (ChainLink("OutOfMemory", "more than 64 MiB"),), kind=Kind.MEMORY,
             allowed=64 << 20), "kept = [b'x' * (16 << 20) for _ in range(9000)]", 0),
    (Failure(Stage.TO_EDGE, (ChainLink("OutOfMemory", "more than 64 MiB"),), kind=Kind.MEMORY,
             allowed=64 << 20), "return", 1),
]  # fmt: skip


def finding(failure: Failure) -> Finding:
    made = case((), "%x")
    made = Case(made.graph, Recipe("p", last_stage=failure.stage))
    environment = Environment("3.11", "2.13.0", "1.5.1")
    return Finding(
        "m.py", made, signature_of(failure), failure, MatchRule(), environment, "confirmed", 9
    )


def outcome(folder: Path, script: str, stage: Stage, fail: str, *options: str) -> int:
    where = "run" if stage is Stage.EXECUTE else "lower"
    (folder / "executorch").mkdir()
    (folder / "torch.py").write_text(TORCH)
    (folder / "executorch" / "exir.py").write_text(
        EXIR.replace("FAIL", fail.strip()) + f"\nWHERE = {where!r}\n"
    )
    (folder / "executorch" / "runtime.py").write_text(RUNTIME)
    (folder / "repro.py").write_text(script)
    return subprocess.run(
        [sys.executable, "repro.py", *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        check=False,
    ).returncode


@pytest.mark.parametrize(("failure", "fail", "code"), ENDS)
def test_it_tells_the_failure_of_record_from_others(
    failure: Failure, fail: str, code: int, tmp_path: Path
) -> None:
    script = render(finding(failure)).replace("dump_traceback_later(30", "dump_traceback_later(1")
    assert outcome(tmp_path, script, failure.stage, fail, "--expect-failure") == code


def test_run_as_it_stands_it_fails_as_it_says(tmp_path: Path) -> None:
    failure = Failure(Stage.TO_EDGE, (ChainLink("ExitCode3", ""),), kind=Kind.DIES)
    assert outcome(tmp_path, render(finding(failure)), Stage.TO_EDGE, "os._exit(3)") == 3


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (ENDS[0][0], "# The .pte for p does not execute."),
        (ENDS[3][0], "# Running the .pte for p kills the process, in execute."),
        (ENDS[5][0], "# Lowering for p kills the process, in to_edge."),
        (ENDS[9][0], "# Lowering for p does not come to an end, in to_edge."),
        (ENDS[11][0], "# Lowering for p takes up all memory, in to_edge."),
    ],
)
def test_what_it_says(failure: Failure, said: str) -> None:
    text = render(finding(failure))
    assert text.startswith(said)
    assert "reducer" not in text


def test_how_often_it_fails_is_said() -> None:
    flaky = replace(finding(ENDS[0][0]), flaky="in 3 of 10 runs")
    assert "# It fails now and then: in 3 of 10 runs." in render(flaky)
