"""A model with three failures, each behind the one before: are all found, reduced and confirmed?"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reducer.core.errors import ExitCode
from reducer.core.finding import Finding
from reducer.core.stage import Stage
from reducer.workflows.outcome import Outcome

pytestmark = pytest.mark.torch

#: An operator outside of the core set, twice; an image without a batch, in channels-last; a missing kernel.
MODEL = """
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(8, 8)
        self.conv = torch.nn.Conv2d(2, 2, (1, 2)).to(memory_format=torch.channels_last)

    def forward(self, x):
        h = torch.fft.fft2(torch.relu(self.first(x))).real
        pooled = torch.nn.functional.max_pool3d(torch.sigmoid(h), 2)
        return torch.fft.fft2(pooled).real, torch.relu(self.conv(h[0]))

torch.manual_seed(0)
model = Net().eval()
example_inputs = (torch.randn(1, 2, 8, 8),)
"""


def target(finding: Finding) -> list[str]:
    return [node.target for node in finding.case.graph.nodes]


def test_one_after_the_other(reduce: Callable[..., Outcome]) -> None:
    first = reduce(MODEL, backend="xnnpack", every=True)
    found = [first, *first.further]
    assert [outcome.code for outcome in found] == [ExitCode.REDUCED] * 3
    assert [target(outcome.finding) for outcome in found] == [
        ["aten.fft_fft2.default"], ["aten.conv2d.default"], ["aten.max_pool3d.default"]
    ]  # fmt: skip
    stages = [outcome.finding.failure.stage for outcome in found]
    assert stages == [Stage.TO_EDGE, Stage.PREPROCESS, Stage.EXECUTE]
    root = first.folder.root
    assert [outcome.folder.root for outcome in found] == [root, root / "2", root / "3"]
    for outcome in found:
        assert {"repro.py", "report.md", "finding.json", "test_repro.py"} <= {
            path.name for path in outcome.folder.root.iterdir()
        }
    assert not (root / "2" / "state").exists()
