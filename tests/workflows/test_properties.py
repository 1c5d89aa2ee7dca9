"""Oracles of the user's own and built-in ones: reduced, emitted, confirmed; the script says which."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from reducer.cli import values
from reducer.core.errors import BadInput, ExitCode, NoFailure
from reducer.core.kind import Kind
from reducer.core.stage import Stage
from reducer.workflows.outcome import Outcome

pytestmark = pytest.mark.torch

#: XNNPACK takes everything but ``acos``.
MODEL = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = torch.nn.Linear(8, 8), torch.nn.Linear(8, 4)
    def forward(self, x, y):
        h = torch.relu(self.a(x)) + y
        return self.b(torch.acos(torch.tanh(h))).softmax(-1), h - y

torch.manual_seed(0)
model, example_inputs = Model().eval(), (torch.randn(2, 8), torch.randn(2, 8))
"""

DELEGATES = '''
"""Too many delegates for one program."""

import re


def count(program):
    targets = [str(node.target) for node in program.exported_program().graph.nodes]
    return sum(bool(re.search("call_delegate", target)) for target in targets)


def interesting(program):
    found = count(program)
    return f"{found} delegates" if found > 1 else False


if __name__ == "__main__":
    print("by hand")
'''

#: Says yes to a .pte in which the name of an operator is.
GREP = """\
#!/bin/sh
grep -q acos "$1"
"""


def targets(outcome: Outcome) -> list[str]:
    return [node.target for node in outcome.finding.case.graph.nodes]


def script(outcome: Outcome, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, outcome.folder.repro.name, *options]
    return subprocess.run(
        command, check=False, cwd=outcome.folder.root, capture_output=True, text=True, timeout=300
    )


def exit_of_the_test(outcome: Outcome) -> int:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_repro.py"]
    return subprocess.run(
        command, check=False, cwd=outcome.folder.root, capture_output=True, timeout=300
    ).returncode


def test_a_python_file(reduce: Callable[..., Outcome], tmp_path: Path) -> None:
    path = tmp_path / "delegates.py"
    path.write_text(DELEGATES)
    oracle, asked = values.asked(str(path), None)
    outcome = reduce(MODEL, backend="xnnpack", oracle=oracle, asked=asked)
    assert outcome.code is ExitCode.REDUCED
    assert outcome.finding.case.operators <= 3  # whatever two of them, and what parts them
    failure = outcome.finding.failure
    assert (failure.kind, failure.stage) == (Kind.PROPERTY, Stage.TO_EXECUTORCH)
    assert failure.headline == "Interesting: 2 delegates"
    ran = script(outcome)
    assert ran.returncode == 1
    assert "Interesting: 2 delegates" in ran.stderr
    assert script(outcome, "--expect-failure").returncode == 0
    source = outcome.folder.repro.read_text()
    assert "def interesting(program):" in source
    assert "by hand" not in source
    report = outcome.folder.report.read_text()
    assert "def interesting(program):" in report
    assert "Interesting: 2 delegates" in report
    assert exit_of_the_test(outcome) == 1  # until it is mended


def test_an_executable_file(reduce: Callable[..., Outcome], tmp_path: Path) -> None:
    path = tmp_path / "has_acos"
    path.write_text(GREP)
    path.chmod(0o755)
    oracle, asked = values.asked(str(path), None)
    path_of_command = f"sh {path} {{pte}}"
    outcome = reduce(MODEL, backend="xnnpack", oracle=oracle, asked=asked)
    path.unlink()  # the script does not need it
    assert outcome.code is ExitCode.REDUCED
    assert targets(outcome) == ["aten.acos.default"]
    assert "has_acos '{pte}' exits with 0" in outcome.finding.failure.headline
    assert script(outcome).returncode == 1
    assert path_of_command not in outcome.folder.repro.read_text()


def test_a_command(reduce: Callable[..., Outcome]) -> None:
    oracle, asked = values.asked(None, "grep -q acos {pte}")
    outcome = reduce(MODEL, backend="portable", oracle=oracle, asked=asked)
    assert outcome.code is ExitCode.REDUCED
    assert targets(outcome) == ["aten.acos.default"]
    assert script(outcome).returncode == 1
    assert script(outcome, "--expect-failure").returncode == 0


def test_what_was_not_delegated(reduce: Callable[..., Outcome]) -> None:
    oracle, asked = values.asked(None, None, "not-delegated")
    outcome = reduce(MODEL, backend="xnnpack,vulkan", oracle=oracle, asked=asked)
    assert outcome.code is ExitCode.REDUCED
    assert targets(outcome) == ["aten.acos.default"]
    recipe = outcome.finding.case.recipe
    assert len(recipe.partitioners) == 1  # one at least: else there is nothing to delegate to
    assert recipe.backend in ("xnnpack", "vulkan")
    failure = outcome.finding.failure
    assert failure.headline == "NotDelegated: not delegated: aten.acos.default"
    assert (failure.kind, failure.stage) == (Kind.PROPERTY, Stage.PREPROCESS)
    ran = script(outcome)
    assert (ran.returncode, "aten.acos.default" in ran.stderr) == (1, True)
    assert "portable" not in {item.backend for item in outcome.finding.elsewhere}


def test_a_program_that_is_fine(reduce: Callable[..., Outcome]) -> None:
    oracle, asked = values.asked(None, None, "not-delegated")
    with pytest.raises(NoFailure, match="not-delegated"):
        reduce(
            MODEL.replace("torch.acos(torch.tanh(h))", "torch.tanh(h)"),
            backend="xnnpack",
            oracle=oracle,
            asked=asked,
        )


@pytest.mark.parametrize(
    "source",
    [
        "def interesting(program): return program.nothing_of_the_kind",
        "import no_such_module\ndef interesting(program): return True",
    ],
)
def test_an_oracle_that_raises_is_no_failure(
    source: str, reduce: Callable[..., Outcome], tmp_path: Path
) -> None:
    path = tmp_path / "raises.py"
    path.write_text(source)
    oracle, asked = values.asked(str(path), None)
    with pytest.raises(BadInput, match=r"the oracle \(oracle\) raises"):
        reduce(MODEL, backend="portable", oracle=oracle, asked=asked)


def test_an_oracle_that_raises_for_smaller_programs(
    reduce: Callable[..., Outcome], tmp_path: Path
) -> None:
    path = tmp_path / "picky.py"
    path.write_text(
        "def interesting(edge):\n"
        "    names = [str(node.target) for node in edge.exported_program().graph.nodes]\n"
        "    (found,) = [name for name in names if 'aten.relu' in name]\n"
        "    return 'a relu'\n"
    )
    oracle, asked = values.asked(str(path), None)
    outcome = reduce(MODEL, backend="portable", oracle=oracle, asked=asked)
    assert outcome.code is ExitCode.REDUCED
    assert targets(outcome) == ["aten.relu.default"]


def test_a_program_that_does_not_lower(reduce: Callable[..., Outcome], tmp_path: Path) -> None:
    (tmp_path / "breaks.py").write_text(BREAKS)
    oracle, asked = values.asked(None, "true")
    with pytest.raises(BadInput, match="the oracle cannot be asked"):
        reduce(MODEL + LOWERS, oracle=oracle, asked=asked)


SMALL = """
import torch

class Model(torch.nn.Module):
    def forward(self, x, y):
        return torch.relu(torch.tanh(x) * y), x - y

model, example_inputs = Model(), (torch.randn(2, 8), torch.randn(2, 8))
"""


@pytest.mark.parametrize(
    ("planted", "name", "told"),
    [
        ("CountsRuns", "other-bytes", "lowered twice: the same operators, other bytes"),
        ("LooksAtTheMode", "lost-by-saving", "saved and loaded: other operators"),
    ],
)
def test_two_ways_to_lower_one_program_should_give_the_same(
    planted: str, name: str, told: str, reduce: Callable[..., Outcome], tmp_path: Path
) -> None:
    shutil.copy(Path(__file__).with_name("planted_kinds.py"), tmp_path)
    oracle, asked = values.asked(name, None)
    lowers = LOWERS.replace("breaks", "planted_kinds").replace("Breaks", planted)
    outcome = reduce(SMALL + lowers, oracle=oracle, asked=asked)
    assert outcome.code is ExitCode.REDUCED  # its script was run by then
    assert targets(outcome) == ["aten.tanh.default"]
    assert outcome.finding.failure.chain[0].message == told
    assert told in outcome.folder.report.read_text()
    if name == "lost-by-saving":
        assert exit_of_the_test(outcome) == 1


@pytest.mark.parametrize("name", ["other-bytes", "lost-by-saving"])
def test_a_healthy_model_is_lowered_the_same_however_often(
    name: str, reduce: Callable[..., Outcome]
) -> None:
    oracle, asked = values.asked(name, None)
    with pytest.raises(NoFailure, match=name):
        reduce(MODEL, backend="xnnpack", oracle=oracle, asked=asked)


BREAKS = """
from torch.fx.passes.infra.pass_base import PassBase
class Breaks(PassBase):
    def call(self, graph_module):
        raise RuntimeError("planted")
"""
LOWERS = """
from breaks import Breaks
from executorch.exir import to_edge_transform_and_lower
program = torch.export.export(model, example_inputs)
to_edge_transform_and_lower(program, transform_passes=[Breaks()]).to_executorch()
"""
