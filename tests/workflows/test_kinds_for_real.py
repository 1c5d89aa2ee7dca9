"""Each way to fail, planted in a pass or met in the runtime: reduced, emitted, confirmed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from reducer.core.errors import ExitCode
from reducer.core.kind import Kind
from reducer.core.signature import CLEAR_EXCESS
from reducer.core.stage import Stage
from reducer.workflows import limits
from reducer.workflows.outcome import Outcome

pytestmark = pytest.mark.torch

#: A script that lowers with one of the passes beside it; ``tanh`` is what they fail on.
SCRIPT = """
import torch
from executorch.exir import to_edge_transform_and_lower
from planted_kinds import {planted}

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = torch.nn.Linear(8, 8), torch.nn.Linear(8, 4)
    def forward(self, x, y):
        h = torch.relu(self.a(x) * {scale}) * y
        return self.b(torch.tanh(h) + 1).softmax(-1), h - y

torch.manual_seed(0)
inputs = (torch.randn(2, 8), torch.randn(2, 8))
program = torch.export.export(Net().eval(), inputs)
to_edge_transform_and_lower(program, transform_passes=[{planted}()]).to_executorch()
"""


@pytest.fixture
def reduce_planted(reduce: Callable[..., Outcome], tmp_path: Path) -> Callable[..., Outcome]:
    def run(planted: str, scale: float = 1.0, **settings: object) -> Outcome:
        shutil.copy(Path(__file__).with_name("planted_kinds.py"), tmp_path)
        return reduce(SCRIPT.format(planted=planted, scale=scale), **settings)

    return run


def targets(outcome: Outcome) -> list[str]:
    return [node.target for node in outcome.finding.case.graph.nodes]


@pytest.mark.parametrize(
    ("planted", "told", "kind"),
    [
        ("Segfaults", "SIGSEGV", Kind.DIES),
        ("Exits", "ExitCode3", Kind.DIES),
        ("EatsMemory", "OutOfMemory", Kind.MEMORY),
    ],
)
def test_what_ends_the_process(
    planted: str,
    told: str,
    kind: Kind,
    reduce_planted: Callable[..., Outcome],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "_free_memory", lambda: 3 << 30)
    monkeypatch.setattr(limits, "_EATEN", 1 << 30)
    outcome = reduce_planted(planted)
    assert outcome.code is ExitCode.REDUCED
    assert targets(outcome) == ["aten.tanh.default"]
    failure = outcome.finding.failure
    assert (failure.chain[0].type, failure.kind) == (told, kind)
    assert failure.stage is Stage.TO_EDGE
    assert (outcome.folder.root / "planted_kinds.py").exists()


def test_wrong_only_for_large_numbers(reduce_planted: Callable[..., Outcome]) -> None:
    outcome = reduce_planted("WrongWhenLarge", scale=50.0)
    assert outcome.code is ExitCode.REDUCED
    assert targets(outcome)[0] == "aten.relu.default"
    assert len(targets(outcome)) <= 2  # a product of another shape cannot be bypassed
    assert outcome.finding.failure.kind is Kind.WRONG
    assert outcome.finding.failure.excess >= CLEAR_EXCESS
    assert "full" in {item.fill.kind for item in outcome.finding.case.graph.inputs}
    assert "WrongWhenLarge" in outcome.finding.diagnosis.summary  # type: ignore[union-attr]


HANGS = """
import torch
from executorch.exir import to_edge_transform_and_lower
from planted_kinds import Hangs

class Net(torch.nn.Module):
    def forward(self, x):
        return torch.tanh(x) * 2

program = torch.export.export(Net(), (torch.zeros(1),))
to_edge_transform_and_lower(program, transform_passes=[Hangs()])
"""


@pytest.mark.skipif(
    "REDUCE_HANGS" not in os.environ, reason="waits for two minutes: set REDUCE_HANGS to run it"
)
def test_what_does_not_come_to_an_end(reduce: Callable[..., Outcome], tmp_path: Path) -> None:
    shutil.copy(Path(__file__).with_name("planted_kinds.py"), tmp_path)
    outcome = reduce(HANGS, timeout=12.0)
    assert outcome.code is ExitCode.REDUCED
    assert targets(outcome) == ["aten.tanh.default"]
    failure = outcome.finding.failure
    assert (failure.chain[0].type, failure.kind) == ("Hang", Kind.HANGS)
    assert failure.stage is Stage.TO_EDGE
    assert "Hangs" in outcome.folder.repro.read_text()


#: As many operators as a real network, of which one pass of three gets one kind wrong.
DEEP = """
import torch
from executorch.exir import to_edge_transform_and_lower
from planted_kinds import FixesSizes, SwapsOperands, WrongWhenLarge

class Net(torch.nn.Module):
    def forward(self, x, y):
        for n in range(50):
            h = torch.sigmoid(x * 0.5)
            h = h - y if n == 30 else h + y
            x = x + h
        return x

torch.manual_seed(0)
program = torch.export.export(Net(), (torch.randn(2, 8), torch.randn(2, 8)))
passes = [FixesSizes(), SwapsOperands(), WrongWhenLarge()]
to_edge_transform_and_lower(program, transform_passes=passes).to_executorch()
"""


def test_one_miscompiled_operator_among_two_hundred(
    reduce: Callable[..., Outcome], tmp_path: Path
) -> None:
    shutil.copy(Path(__file__).with_name("planted_kinds.py"), tmp_path)
    outcome = reduce(DEEP)
    assert outcome.code is ExitCode.REDUCED
    finding = outcome.finding
    assert finding.operators_before >= 200
    assert "aten.sub.Tensor" in targets(outcome)
    assert finding.case.operators <= 3
    assert finding.failure.kind is Kind.WRONG
    assert finding.failure.excess >= 100
    assert "SwapsOperands" in finding.diagnosis.summary  # type: ignore[union-attr]
    (left,) = finding.case.recipe.transform_passes
    assert left.path == "planted_kinds:SwapsOperands"


def test_what_fails_now_and_then_is_judged_by_majorities(
    reduce: Callable[..., Outcome], tmp_path: Path
) -> None:
    source = Path(__file__).with_name("planted_kinds.py").read_text()
    own = source.replace('"planted-counter"', repr(str(tmp_path / "counter")))
    assert own != source
    (tmp_path / "planted_kinds.py").write_text(own)
    # One at a time: two processes that count in one file would fail by another pattern.
    outcome = reduce(SCRIPT.format(planted="FailsNowAndThen", scale=1.0), jobs=1)
    assert outcome.code is ExitCode.REDUCED
    assert targets(outcome) == ["aten.tanh.default"]
    assert "of 10 runs" in outcome.finding.flaky
    assert "now and then" in outcome.folder.repro.read_text()


LOGSUMEXP = """
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.logsumexp((x * 2).mean(), 0) + 1, x - 1
model, example_inputs = Model(), (torch.randn(2, 8),)
"""


def test_a_runtime_that_kills_the_process(reduce: Callable[..., Outcome]) -> None:
    outcome = reduce(LOGSUMEXP, backend="portable")
    assert outcome.code is ExitCode.REDUCED
    assert targets(outcome) == ["aten.logsumexp.default"]
    assert outcome.finding.failure.kind is Kind.DIES
    assert outcome.finding.failure.stage is Stage.EXECUTE
    assert "assert failed" in outcome.finding.failure.headline


VIDEO = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv3d(2, 4, 3, padding=1)
    def forward(self, x):
        return torch.relu(self.conv(x)).mean(1) * 2
model, example_inputs = Model().eval(), (torch.randn(1, 2, 4, 6, 6),)
"""


def test_a_kernel_that_refuses_is_found_from_the_log_in_one_call(
    reduce: Callable[..., Outcome],
) -> None:
    outcome = reduce(VIDEO, backend="portable")
    assert outcome.code is ExitCode.REDUCED
    assert targets(outcome) == ["aten.conv3d.default"]
    assert "Check failed" in outcome.finding.failure.cause
    assert "aten::convolution.out" in outcome.finding.signature.message


SIZES = """
import torch
from executorch.exir import to_edge_transform_and_lower
from planted_kinds import FixesSizes
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Linear(8, 8)
    def forward(self, x):
        h = torch.relu(self.a(x))
        return h.reshape(h.shape[0] * 2, 4).softmax(-1), h + 1
torch.manual_seed(0)
inputs = (torch.randn(4, 8),)
dynamic = {"x": {0: torch.export.Dim("n", min=1, max=64)}}
program = torch.export.export(Model().eval(), inputs, dynamic_shapes=dynamic)
program = to_edge_transform_and_lower(program, transform_passes=[FixesSizes()]).to_executorch()
from executorch.runtime import Runtime
method = Runtime.get().load_program(program.buffer).load_method("forward")
method.execute([torch.randn(4, 8)])
method.execute([torch.randn(9, 8)])
"""


def test_other_sizes_than_the_example(reduce: Callable[..., Outcome], tmp_path: Path) -> None:
    shutil.copy(Path(__file__).with_name("planted_kinds.py"), tmp_path)
    outcome = reduce(SIZES)
    assert outcome.code is ExitCode.REDUCED
    case = outcome.finding.case
    assert case.operators <= 3  # the view, the size it asks for, and what that is multiplied by
    assert len(case.checks) == 1
    assert "check_inputs = [" in outcome.folder.repro.read_text()
