"""Is what fails before there is a graph reduced as source: eager, quantization, export, in every form?"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from reducer.core.errors import ExitCode
from reducer.core.stage import Stage
from reducer.core.verdict import Verdict
from reducer.workflows.outcome import Outcome

pytestmark = pytest.mark.torch

ROUTED = """
import math
import torch
from torch import nn

class ExpertUnit(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = nn.Linear(width, 2 * width)
    def forward(self, x):
        return self.up(x).sum(-1)

class RoutedUnit(nn.Module):
    '''The gate depends on data.'''
    def __init__(self, width, experts, scale=1.0):
        super().__init__()
        self.gate = nn.Linear(width, experts)
        self.experts = nn.ModuleList([ExpertUnit(width) for _ in range(experts)])
        self.scale = scale / math.sqrt(width)
    def forward(self, x):
        best = self.gate(x).argmax(-1)
        out = torch.zeros_like(best)
        for index, expert in enumerate(self.experts):
            if (best == index).sum() > 0:
                out = out + expert(x) * self.scale
        return out

class OrionNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(8, 16)
        self.routed = nn.Sequential(RoutedUnit(16, 3))
    def forward(self, x):
        return self.routed(self.embed(x))

model = OrionNet().eval()
example_inputs = (torch.randn(2, 8),)
"""

SCRIPT = """
import torch
from torch.export import export
from executorch.exir import to_edge

class Net(torch.nn.Module):
    def forward(self, x, y):
        count = int(x.abs().sum())
        return x * 2 if count > 3 else x + y

def main():
    net = Net().eval()
    program = export(net, (torch.randn(2, 4), torch.randn(2, 4)), strict=True)
    print(to_edge(program).to_executorch().buffer)

if __name__ == "__main__":
    main()
"""

EAGER = """
import torch
class Fold(torch.nn.Module):
    def __init__(self, rows):
        super().__init__()
        self.rows = rows
    def forward(self, x):
        return torch.relu(x).reshape(self.rows, -1)
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(5, 6)
        self.fold = Fold(4)
    def forward(self, *, x, y):
        return self.fold(self.linear(x)) + y
model = Net()
example_inputs = {"x": torch.randn(3, 5), "y": torch.randn(1)}
"""

QUANTIZED = """
import torch
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer, get_symmetric_quantization_config)

class Picky(XNNPACKQuantizer):
    def annotate(self, model):
        found = super().annotate(model)
        for node in found.graph.nodes:
            if "sigmoid" in str(node.target):
                raise NotImplementedError("no observer for it")
        return found

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 8))
    def forward(self, x):
        return torch.sigmoid(self.layers(x)) * 2

model, example_inputs = Net().eval(), (torch.randn(2, 8),)
quantizer = Picky().set_global(get_symmetric_quantization_config())
"""

DYNAMIC = """
import torch
from torch.export import Dim
class Net(torch.nn.Module):
    def forward(self, x):
        y = torch.cat([x, x.flip(-1)], 1).softmax(-1)
        return y.reshape(y.shape[0], y.shape[1] // 16, 16).sum(-1)
model = Net()
example_inputs = (torch.randn(2, 8),)
dynamic_shapes = {"x": {1: Dim("n", min=4, max=64)}}
"""


@pytest.mark.parametrize(
    ("source", "stage", "most", "words"),
    [
        (ROUTED, Stage.EXPORT, 7, ("if ", "class Repro")),
        (SCRIPT, Stage.EXPORT, 6, ("strict=True", "int(x)")),
        (EAGER, Stage.EAGER, 8, ("reshape(",)),
        (QUANTIZED, Stage.QUANTIZE, 14, ("prepare_pt2e(", "raise")),
        (DYNAMIC, Stage.EXPORT, 9, ("dynamic_shapes", "reshape(")),
    ],
    ids=["export", "script", "eager", "quantize", "dynamic"],
)
def test_it_is_reduced_as_source(
    reduce: Callable[..., Outcome], source: str, stage: Stage, most: int, words: tuple[str, ...]
) -> None:
    outcome = reduce(source)
    finding, text = outcome.finding, outcome.folder.repro.read_text()
    assert (outcome.code, finding.failure.stage) == (ExitCode.REDUCED, stage)
    assert finding.case.operators <= most, text
    assert all(word in text for word in words), text
    assert not {"RoutedUnit", "OrionNet", "ExpertUnit"} & set(text.replace("(", " ").split())
    assert finding.certificate
    assert Verdict.SAME not in {item.verdict for item in finding.certificate}
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", str(outcome.folder.test), "-p", "no:cacheprovider"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "1 failed" in run.stdout, run.stdout[-1000:]
    assert f"# [{stage}] " in outcome.folder.report.read_text()


def test_the_users_modules_are_written_into_it(
    reduce: Callable[..., Outcome], tmp_path: Path
) -> None:
    package = tmp_path / "orion_models"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "units.py").write_text(ROUTED.partition("class OrionNet")[0])
    rest = "class OrionNet" + ROUTED.partition("class OrionNet")[2]
    (tmp_path / "subject.py").write_text(
        "import torch\nfrom torch import nn\nfrom orion_models.units import RoutedUnit\n" + rest
    )
    outcome = reduce(tmp_path / "subject.py")
    text = outcome.folder.repro.read_text()
    assert outcome.code is ExitCode.REDUCED
    assert "orion" not in text.lower()
    assert outcome.finding.case.operators <= 7, text
    assert not (outcome.folder.root / "orion_models").exists()
