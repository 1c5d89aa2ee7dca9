"""Do the tools that need torch work on a model that fails? All of them, with one warm worker."""

from __future__ import annotations

import os
import shutil

import pytest

from reducer.oracle.worker import Worker
from reducer.workflows.output import open_output
from reducer.workflows.settings import ReduceSettings
from tests.bench.run import run
from tests.bench.task import Spending, Subject, captured
from tests.bench.tools import load

pytestmark = pytest.mark.torch

#: Vulkan's delegate cannot do the roll that its partitioner accepts.
MODEL = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x.relu().roll(1, -1) + 1


model = Model().eval()
example_inputs = (torch.zeros(1, 4),)
"""
SPENDING = Spending(60, 300)


@pytest.fixture(scope="module")
def subject(warm_worker: Worker, tmp_path_factory: pytest.TempPathFactory) -> Subject:
    folder = tmp_path_factory.mktemp("bench")
    path = folder / "model.py"
    path.write_text(MODEL)
    settings = ReduceSettings(str(path), "vulkan", output=folder / "case")
    return captured(settings, open_output(settings), warm_worker)


@pytest.mark.parametrize("tool", ["fx_minifier", "find_culprits", "ours, structure"])
def test_a_tool_ends_with_a_case_that_fails(tool: str, subject: Subject) -> None:
    row = run(load(tool).run, tool, subject, SPENDING)
    assert (row.problem, row.stopped) == ("", "")
    assert row.same
    assert row.calls
    assert row.operators == 1
    assert subject.case.operators == 3


def test_the_script_that_shrink_ray_is_given_fails_as_wanted(subject: Subject) -> None:
    from tests.bench.tools.shrinkray import text_of

    with subject.task(SPENDING, store=False) as task:
        text = text_of(task)
        assert task.oracle.script(text)
        assert not task.oracle.script(text.replace("VulkanPartitioner()", ""))
        assert not task.oracle.script(text[: len(text) // 2])
        assert (len(task.oracle.paid), len(task.oracle.log)) == (2, 3)
        assert task.oracle.best is not None
        assert task.oracle.best.operators == subject.case.operators


@pytest.mark.skipif(
    not (os.environ.get("SHRINKRAY") or shutil.which("shrinkray")), reason="is not installed"
)
def test_shrink_ray_asks_the_warm_worker(subject: Subject) -> None:
    row = run(load("Shrink Ray").run, "Shrink Ray", subject, Spending(5, 30))
    assert row.problem == ""
    assert row.same
    assert row.stopped
