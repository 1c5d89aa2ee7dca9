"""Does a script ask what it lowers to for the property, and is every oracle written into it?"""

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
from reducer.core.property import Property, embedded, problem
from reducer.core.recipe import Recipe
from reducer.core.signature import ChainLink, Failure, MatchRule, signature_of
from reducer.core.wire import Environment
from reducer.emit.properties import PROPERTIES
from reducer.emit.properties.command import of_command, of_script
from reducer.emit.regression_test import render_test
from reducer.emit.report import report
from reducer.emit.repro_script import render

# Stand-ins for torch and executorch: a program is what an environment variable says.
TORCH = """
import types
class Module:
    def eval(self): return self
nn = types.SimpleNamespace(Module=Module)
export = types.SimpleNamespace(export=lambda *a, **k: 1, save=lambda *a: None, load=lambda _: 1)
def zeros(*size): return size
"""
EXIR = """
import os, types
class Edge:
    made = 0
    def __init__(self):
        counted = os.environ["PROGRAM"].replace("counted", f"counted{Edge.made}")
        self.buffer = counted.encode()
        Edge.made += 1
    def to_executorch(self): return self
    def exported_program(self): return types.SimpleNamespace(graph=self)
    @property
    def nodes(self):
        names = os.environ["PROGRAM"].split()
        return [types.SimpleNamespace(op="call_function", target=name) for name in names]
def to_edge_transform_and_lower(*a, **k):
    if not os.environ["PROGRAM"]: raise ValueError("planted")
    return Edge()
"""

LARGE = Property(
    "oracle",
    '''\
"""Too large."""
from __future__ import annotations
import math, textwrap


LIMIT: int = 4  # bytes


def size(program):
    return math.floor(len(program.buffer))


def interesting(program):
    return f"{size(program)} bytes are many" if size(program) > LIMIT else False


if __name__ == "__main__":
    raise SystemExit("by hand")
''',
)
SAYS_YES = '#!/bin/sh\ngrep -q large "$1" && exit 0\ngrep -q odd "$1" && exit 125\nexit 1\n'

ASKED = {
    "python": (LARGE, "9 bytes are many"),
    "true": (Property("oracle", "def interesting(edge):\n    return edge.buffer == b'large'"), ""),
    "command": (of_command("grep -q 'large' {pte}"), "grep -q large '{pte}' exits with 0"),
    "last": (of_command("grep -q large"), "grep -q large '{pte}' exits with 0"),
    "script": (of_script("says_yes", SAYS_YES), "says_yes '{pte}' exits with 0"),
    "delegated": (PROPERTIES["not-delegated"], "not delegated: large"),
    "bytes": (PROPERTIES["other-bytes"], "lowered twice: the same operators, other bytes"),
    "saved": (PROPERTIES["lost-by-saving"], "saved and loaded: the same operators, other bytes"),
}
#: The program that has the property.
HAS = {"python": "large one", "bytes": "counted", "saved": "counted"}


def finding(name: str, **changes: object) -> Finding:
    asked, reason = ASKED[name]
    link = ChainLink(asked.title, reason or "it is interesting")
    failure = Failure(asked.stage, (link,), kind=Kind.PROPERTY)
    made = Case(case((), "%x").graph, Recipe("any", last_stage=asked.stage, asked=asked))
    found = Finding(
        "subject.py",
        made,
        signature_of(failure),
        failure,
        MatchRule(),
        Environment(),
        "confirmed",
        3,
    )
    return replace(found, **changes)  # type: ignore[arg-type]


def ran(folder: Path, script: str, program: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "executorch").mkdir(exist_ok=True)
    (folder / "torch.py").write_text(TORCH)
    (folder / "executorch" / "exir.py").write_text(EXIR)
    (folder / "repro.py").write_text(script)
    return subprocess.run(
        [sys.executable, "repro.py", *options],
        check=False, cwd=folder, env={**os.environ, "PROGRAM": program, "PYTHONPATH": str(folder)},
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip


@pytest.mark.parametrize("name", ASKED)
def test_a_script_that_has_the_property_fails_as_it_says(name: str, tmp_path: Path) -> None:
    found = finding(name)
    script, large = render(found), HAS.get(name, "large")
    plain = ran(tmp_path, script, large)
    assert plain.returncode == 1
    assert plain.stderr.startswith(f"{found.failure.chain[0].type}: {ASKED[name][1]}")
    assert ran(tmp_path, script, large, "--expect-failure").returncode == 0
    fine = "fine" if name != "delegated" else "executorch_call_delegate"
    assert (ran(tmp_path, script, fine).returncode, ran(tmp_path, script, fine).stderr) == (0, "")
    assert ran(tmp_path, script, fine, "--expect-failure").returncode == 1
    # Another failure is neither: lowering that raises.
    assert ran(tmp_path, script, "", "--expect-failure").returncode == 2


def test_another_reason_is_another_failure(tmp_path: Path) -> None:
    script = render(finding("delegated"))
    assert ran(tmp_path, script, "small", "--expect-failure").returncode == 2
    loose = render(finding("delegated", rule=MatchRule("type")))
    assert ran(tmp_path, loose, "small", "--expect-failure").returncode == 0
    worded = render(finding("delegated", rule=MatchRule(regex="s[a-z]all$")))
    assert ran(tmp_path, worded, "small", "--expect-failure").returncode == 0
    assert ran(tmp_path, worded, "large", "--expect-failure").returncode == 2


def test_a_command_that_cannot_tell_is_no_failure(tmp_path: Path) -> None:
    script = render(finding("script"))
    said = ran(tmp_path, script, "odd", "--expect-failure")
    assert said.returncode == 2
    assert "says_yes '{pte}' ends with 125" in said.stderr


@pytest.mark.parametrize("name", ASKED)
def test_the_regression_test_and_the_report_have_it_too(name: str) -> None:
    found = finding(name)
    test = render_test(found)
    compile(test, "test_repro.py", "exec")
    asking = "export(), lower" if name in ("bytes", "saved") else "lower()"
    assert f"assertFalse(interesting({asking}))" in test
    told = report(found)
    assert "def interesting(" in told
    assert f"({ASKED[name][0].name})" in told.replace("\\", "")


def test_what_is_left_out_of_a_users_file() -> None:
    *imports, rest = embedded(LARGE.source)
    assert imports == ["import math, textwrap"]
    assert rest.startswith("LIMIT: int = 4  # bytes\n\n\ndef size(program):")
    assert "by hand" not in rest


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("def interesting(program: return 1", "not Python"),
        ("def interesting(): return 1", "no function"),
        ("def boring(program): return 1", "no function"),
        ("def interesting(exported): return 1", "second parameter"),
        ("model = 1\ndef interesting(program): return 1", "model"),
        ("def lower(): ...\ndef interesting(program): return 1", "lower"),
    ],
)
def test_what_is_no_property(source: str, told: str) -> None:
    assert told in problem(source)
