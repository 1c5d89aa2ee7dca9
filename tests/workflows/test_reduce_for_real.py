"""The whole path on real failures: capture, isolate, reduce, emit, confirm, and its evidence."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from reducer.core.errors import ExitCode, NoFailure
from reducer.core.signature import MatchRule, signature_of
from reducer.core.stage import Stage
from reducer.core.verdict import Verdict
from reducer.core.wire import Limits
from reducer.emit.record import read_finding
from reducer.oracle.judge import Judge
from reducer.oracle.store import Store
from reducer.oracle.worker import Worker
from reducer.search.budget import Budget
from reducer.workflows.outcome import Outcome
from reducer.workflows.reduction import Reduction
from reducer.workflows.strategy import certificate

pytestmark = pytest.mark.torch

EXAMPLE = Path(__file__).parents[2] / "reducer" / "examples" / "position_table.py"

SCRIPT = """
import torch
from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.exir import EdgeCompileConfig, to_edge

class Shift(torch.nn.Module):
    def forward(self, a, b):
        steps = 10000.0 ** (2 * torch.div(torch.arange(8.0), 2, rounding_mode="floor"))
        return torch.sigmoid(a) * b + steps.sin(), a - b

inputs = (torch.randn(6, 8), torch.randn(6, 8))
config = EdgeCompileConfig(_check_ir_validity=False)
edge = to_edge(torch.export.export(Shift(), inputs), compile_config=config)
edge.to_backend(VulkanPartitioner({"require_dynamic_shapes": True})).to_executorch()
"""

FFT = """
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.fft.rfft(x * 2).abs() + 1, x - 1
model, example_inputs = Model(), (torch.randn(2, 8),)
"""

IN_PLACE = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(4))
    def forward(self, x, y):
        self.seen.add_(x)
        z = x.clone()
        z.mul_(2)
        parts = torch.fft.rfft(z + self.seen).abs().split(2)
        return {"a": parts[0], "b": [y.relu_(), x]}
model, example_inputs = Model(), (torch.randn(4), torch.randn(2))
"""


OWN_OPERATOR = """
import torch

@torch.library.custom_op("mine::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2

@twice.register_fake
def _(x):
    return torch.empty_like(x)

class Model(torch.nn.Module):
    def forward(self, x):
        return twice(x + 1) + 1
model, example_inputs = Model(), (torch.randn(3),)
"""


def targets(outcome: Outcome) -> list[str]:
    return [node.target for node in outcome.finding.case.graph.nodes]


def test_the_example_that_ships_is_reduced_to_two_operators(reduce: Callable[..., Outcome]):
    outcome = reduce(EXAMPLE, backend="vulkan")
    assert outcome.code is ExitCode.REDUCED
    assert outcome.finding.status == "confirmed"
    assert outcome.finding.case.operators == 2
    assert [item.role for item in outcome.finding.case.graph.inputs] == ["input"]
    assert outcome.finding.signature.stage is Stage.PREPROCESS
    assert outcome.finding.ledger.repeated == 0


def test_the_example_passes_on_xnnpack(reduce: Callable[..., Outcome]):
    with pytest.raises(NoFailure):
        reduce(EXAMPLE, backend="xnnpack")


def test_an_unmodified_script_keeps_only_the_options_that_matter(reduce: Callable[..., Outcome]):
    outcome = reduce(SCRIPT)
    assert outcome.code is ExitCode.REDUCED
    assert targets(outcome) == ["aten.arange.default", "aten.mul.Tensor"]
    recipe = outcome.finding.case.recipe
    assert recipe.compile_config is None
    assert not recipe.two_steps
    assert [item.args or item.kwargs for item in recipe.partitioners] == [()]


def test_a_failure_before_any_partition_is_found_from_its_message(reduce: Callable[..., Outcome]):
    outcome = reduce(FFT, backend="portable")
    assert outcome.finding.signature.stage is Stage.TO_EDGE
    assert targets(outcome) == ["aten.abs.default"]


def test_mutation_and_nested_outputs_survive_until_they_are_not_needed(
    reduce: Callable[..., Outcome],
):
    outcome = reduce(IN_PLACE, backend="portable")
    assert targets(outcome) == ["aten.abs.default"]


def test_an_operator_of_the_users_own_goes_into_the_script(reduce: Callable[..., Outcome]):
    outcome = reduce(OWN_OPERATOR, backend="portable")
    assert outcome.finding.status == "confirmed"
    assert targets(outcome) == ["mine.twice.default"]
    assert outcome.finding.signature.message == "Missing out variants: {'mine::twice'}"
    script = outcome.folder.repro.read_text()
    assert "@torch.library.custom_op" in script
    assert "import subject" not in script
    assert not (outcome.folder.root / "subject.py").exists()


def test_a_pt2_is_reduced_as_the_model_is(reduce: Callable[..., Outcome], tmp_path: Path):
    torch = pytest.importorskip("torch")
    names: dict[str, object] = {}
    exec(FFT, names)
    program = torch.export.export(names["model"], names["example_inputs"])
    torch.export.save(program, tmp_path / "model.pt2")
    assert targets(reduce(tmp_path / "model.pt2", backend="portable")) == ["aten.abs.default"]


def test_the_certificate_holds_when_it_is_judged_again(
    reduce: Callable[..., Outcome], warm_worker: Worker, tmp_path: Path
):
    outcome = reduce(FFT, backend="portable")
    finding = read_finding(outcome.folder.finding)
    assert finding == outcome.finding
    store = Store(tmp_path / "again.sqlite")
    judge = Judge(
        warm_worker,
        store,
        Budget(time.monotonic),
        data_dir=outcome.folder.data,
        wanted=finding.signature,
        rule=MatchRule(),
        limits=Limits(120),
    )
    reduction = Reduction(judge)
    assert reduction.offer(finding.case, "again")
    again = certificate(reduction)
    assert again == finding.certificate
    assert all(item.verdict is not Verdict.SAME for item in again)
    elements = {item.element for item in again}
    for node in finding.case.graph.nodes:
        assert node.name in elements
    for item in finding.case.graph.inputs:
        assert f"input {item.name}" in elements
    store.close()


def test_the_script_tells_failing_passing_and_anything_else_apart(
    reduce: Callable[..., Outcome], tmp_path: Path
):
    outcome = reduce(FFT, backend="portable")
    script = tmp_path / "repro.py"
    shutil.copy(outcome.folder.repro, script)
    source = script.read_text()
    assert "reducer" not in source
    assert "/" not in source.replace("://", "")

    def run(*options: str) -> int:
        command = [sys.executable, script.name, *options]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode

    assert run() == 1
    assert run("--expect-failure") == 0
    plain = re.sub(
        r"forward\(self, .*\):\n +return .*", "forward(self, x):\n        return x * 2", source
    )
    assert plain != source
    script.write_text(plain.replace("dtype=torch.complex64", "dtype=torch.float32"))
    assert run("--expect-failure") == 1
    script.write_text(source.replace("return ", "return missing_name or ", 1))
    assert run("--expect-failure") == 2


def test_a_signature_is_the_same_when_the_reduced_case_is_the_subject(
    reduce: Callable[..., Outcome],
):
    outcome = reduce(FFT, backend="portable")
    assert signature_of(outcome.finding.failure) == outcome.finding.signature
