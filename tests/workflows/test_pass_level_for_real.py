"""One pass alone, and the regression test: do they fail today, and pass once it is mended?"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from reducer.core.errors import ExitCode
from reducer.core.finding import PassLevel
from reducer.oracle.worker import Worker
from reducer.workflows.outcome import Outcome
from reducer.workflows.reduce import reduce_subject
from reducer.workflows.settings import ReduceSettings
from tests.workflows.overlay import RETRACE, overlay
from tests.workflows.overlay import mended as mended_retrace

pytestmark = pytest.mark.torch

TABLE = """
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return (torch.arange(4) * 2).float().sin()
model, example_inputs = Model(), (torch.randn(4),)
"""

CHANNELS_LAST = """
import torch
model = torch.nn.Conv2d(2, 3, 3).to(memory_format=torch.channels_last)
example_inputs = (torch.randn(1, 2, 8, 8),)
"""

FFT = """
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.fft.rfft(x).abs()
model, example_inputs = Model(), (torch.randn(2, 8),)
"""

Reduce = Callable[[str, str], Outcome]


@pytest.fixture(scope="module")
def reduce(warm_worker: Worker, tmp_path_factory: pytest.TempPathFactory) -> Reduce:
    """Reduce a source for a backend; each only once."""
    known: dict[str, Outcome] = {}

    @contextmanager
    def lent(*_: object, **__: object) -> Iterator[Worker]:
        yield warm_worker

    def run(source: str, backend: str) -> Outcome:
        if source not in known:
            folder = tmp_path_factory.mktemp("subject")
            (folder / "subject.py").write_text(source)
            settings = ReduceSettings(str(folder / "subject.py"), backend, output=folder / "out")
            known[source] = reduce_subject(settings, lambda _: None, open_worker=lent)
        return known[source]

    return run


def level_of(outcome: Outcome) -> PassLevel:
    assert outcome.code is ExitCode.REDUCED
    assert outcome.finding.pass_level is not None
    return outcome.finding.pass_level


def ran(
    *command: str | Path, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return subprocess.run(
        [sys.executable, *map(str, command)],
        capture_output=True,
        text=True,
        check=False,
        env=env or clean,
    )


def imported(script: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(script.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(str(node.module))
    return found


@pytest.fixture(scope="module")
def mended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a process in which the retrace keeps the mode of its placeholders."""
    folder = tmp_path_factory.mktemp("overlay")
    return overlay(folder, RETRACE, mended_retrace)


def test_one_operator_and_no_backend_show_what_the_retrace_does(reduce: Reduce):
    outcome = reduce(TABLE, "vulkan")
    level = level_of(outcome)
    assert level.shown
    assert level.case is not None
    assert level.case.recipe.alone is not None
    assert level.case.recipe.alone.construct.path == "executorch.exir.pass_base:ExportPass"
    assert level.case.operators == 1
    assert len(level.case.graph.inputs) <= 2
    modules = imported(outcome.folder.pass_repro)
    assert not [name for name in modules if "backends" in name or name.startswith("reducer")]
    assert "torch.export" not in outcome.folder.pass_repro.read_text()
    assert "export(" not in outcome.folder.pass_repro.read_text()


def test_the_script_of_the_pass_counts_two_modes_and_one_once_it_is_mended(
    reduce: Reduce, mended: dict[str, str]
):
    script = reduce(TABLE, "vulkan").folder.pass_repro
    today = ran(script)
    assert today.returncode == 1
    assert "1 before, 2 after; 1 expected" in today.stdout
    assert "after ExportPass: values belong to more than one FakeTensorMode" in today.stderr
    assert ran(script, "--expect-failure").returncode == 0
    then = ran(script, env=mended)
    assert then.returncode == 0, then.stderr
    assert "1 before, 1 after; 1 expected" in then.stdout
    assert ran(script, "--expect-failure", env=mended).returncode == 1


def test_the_regression_test_fails_today_and_passes_once_it_is_mended(
    reduce: Reduce, mended: dict[str, str]
):
    test = reduce(TABLE, "vulkan").folder.test
    assert not [name for name in imported(test) if name.startswith("reducer")]
    pytest_it = ("-m", "pytest", "-q", "-p", "no:cacheprovider", test)
    today = ran(*pytest_it)
    assert today.returncode == 1
    assert "2 failed" in today.stdout
    then = ran(*pytest_it, env=mended)
    assert then.returncode == 0, then.stdout
    assert "2 passed" in then.stdout


def test_a_backends_pass_that_raises_is_run_with_its_program(reduce: Reduce):
    outcome = reduce(CHANNELS_LAST, "xnnpack")
    level = level_of(outcome)
    assert level.shown, level.reason
    assert level.oracle == ""
    assert level.case is not None
    assert level.case.operators == 1
    assert level.case.recipe.alone is not None
    assert level.case.recipe.alone.needs_program
    assert outcome.folder.pass_repro.exists()
    failed = ran(outcome.folder.pass_repro)
    assert failed.returncode == 1
    assert "to be NCHW in channels last reshape pass" in failed.stderr
    assert ran("-m", "pytest", "-q", "-p", "no:cacheprovider", outcome.folder.test).returncode == 1


def test_what_no_pass_raises_has_a_reason_and_a_test(reduce: Reduce):
    outcome = reduce(FFT, "portable")
    level = level_of(outcome)
    assert not level.shown
    assert level.case is None
    assert "EXIREdgeDialectVerifier cannot be run on a graph alone" in level.reason
    assert not outcome.folder.pass_repro.exists()
    assert "def test_it_lowers(self)" in outcome.folder.test.read_text()
    assert "run_pass" not in outcome.folder.test.read_text()
