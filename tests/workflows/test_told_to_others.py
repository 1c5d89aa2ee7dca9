"""What leaves the machine: a planted model's secrets must not, and what a report says must be true."""

from __future__ import annotations

import re
import sysconfig
import venv
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

import pytest

from reducer.core.diagnosis import INVARIANTS
from reducer.core.errors import ExitCode
from reducer.core.verdict import Verdict
from reducer.core.wire import CaptureJob, Job, Limits
from reducer.emit.record import read_finding
from reducer.oracle.worker import Answer, Worker
from reducer.workflows.explain import explain_subject
from reducer.workflows.outcome import Outcome
from reducer.workflows.reduce import reduce_subject
from reducer.workflows.settings import ReduceSettings

pytestmark = pytest.mark.torch

#: Fails in partition with a message that has an attribute's name in it.
PLANTED = """
import torch
import orion_parts

TOKEN = "hf_abcdefghijklmnopqrstuvwx"

class VaultNet(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.vault_attn = orion_parts.CipherHead()

    def forward(self, zebra_pixels):
        return {"aardvark": self.vault_attn(zebra_pixels.relu()), "codes": self.vault_attn.cipher}

model = VaultNet()
example_inputs = (torch.randn(2, 4),)
"""
PARTS = """
import torch

class CipherHead(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cipher = torch.nn.Parameter(torch.full((3, 4), 0.73125))

    def forward(self, x):
        return torch.nn.functional.linear(x, self.cipher)
"""
SECRETS = re.compile(r"vault|orion|cipher|zebra|aardvark|hf_abc|0\.73|annalou", re.IGNORECASE)

QUIET = """
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.passes.infra.pass_base import PassBase, PassResult

class QuietPass(PassBase):
    def call(self, graph_module):
        for node in graph_module.graph.nodes:
            if node.op == "call_function" and "sigmoid" in str(node.target):
                value = node.meta["val"]
                with FakeTensorMode():
                    node.meta["val"] = torch.empty(value.shape, dtype=value.dtype)
        return PassResult(graph_module, False)
"""
LOWERS = """
import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower
from {module} import {name}

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.register_buffer("gain", torch.tensor(2.0))

    def forward(self, x):
        return torch.sigmoid(self.linear(x) + 1) * (self.gain + 1), x.relu()

program = torch.export.export(Net(), (torch.randn(2, 4),))
to_edge_transform_and_lower(
    program, transform_passes=[{name}()], partitioner=[XnnpackPartitioner()]
).to_executorch()
"""


@pytest.fixture
def lend(warm_worker: Worker) -> Callable[..., object]:
    @contextmanager
    def lent(*_: object, **__: object):
        yield warm_worker

    return lent


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("getpass.getuser", lambda: "annalou")
    folder = tmp_path / "annalou"
    folder.mkdir()
    (folder / "orion_parts.py").write_text(PARTS)
    (folder / "orion_model.py").write_text(PLANTED)
    return folder / "orion_model.py"


def run(subject: Path, lend: Callable[..., object], **settings: object) -> Outcome:
    chosen = ReduceSettings(str(subject), output=subject.parent / "out", **settings)  # type: ignore[arg-type]
    return reduce_subject(chosen, lambda _: None, open_worker=lend)  # type: ignore[arg-type]


def told(outcome: Outcome) -> dict[str, str]:
    """Everything that a person would attach or paste."""
    root = outcome.folder.root
    files = [path for path in root.rglob("*") if path.is_file()]
    return {
        str(path.relative_to(root)): path.read_text()
        for path in files
        if "state" not in path.relative_to(root).parts
    }


def test_nothing_of_the_users_is_told(planted: Path, lend: Callable[..., object]) -> None:
    outcome = run(planted, lend, backend="xnnpack")
    assert outcome.code is ExitCode.REDUCED
    assert outcome.finding.status == "confirmed"
    texts = told(outcome)
    assert {"repro.py", "finding.json", "report.md"} <= set(texts)
    for name, text in texts.items():
        assert not SECRETS.findall(text), name
        assert str(planted.parent) not in text
        assert not re.search(r"/(home|root|tmp|Users)/", text), name
    assert "constant data node (p_weight) is tagged" in texts["report.md"]
    assert read_finding(outcome.folder.finding) == outcome.finding


def test_names_are_told_on_demand(planted: Path, lend: Callable[..., object]) -> None:
    texts = told(run(planted, lend, backend="xnnpack", keep_names=True))
    assert "self.attn_cipher" in texts["repro.py"]
    assert "p_vault_attn_cipher" in texts["report.md"]
    assert '"subject": "orion_model.py"' in texts["finding.json"]
    for text in texts.values():
        assert "hf_abc" not in text
        assert str(planted.parent) not in text


def test_other_backends_and_versions_are_in_the_report(
    planted: Path, lend: Callable[..., object]
) -> None:
    outcome = run(planted, lend, backend="xnnpack")
    seen = {item.backend: item.verdict for item in outcome.finding.elsewhere}
    assert seen["portable"] is Verdict.PASSES
    assert "xnnpack" not in seen
    report = told(outcome)["report.md"]
    assert "as for portable" in report
    assert f"PyTorch version: {outcome.finding.environment.torch}" in report
    assert f"[pip3] executorch=={outcome.finding.environment.executorch}" in report
    assert "Traceback (most recent call last):\n" in report
    again = run(planted, lend, backend="xnnpack")
    assert again.finding.elsewhere == outcome.finding.elsewhere


def test_a_pass_of_executorch_that_breaks_metadata_is_reduced(
    tmp_path: Path, lend: Callable[..., object]
) -> None:
    """It lowers without complaint; on a program with a tensor of rank 0 the pass leaves old shapes."""
    module = "executorch.backends.transforms.rank_0_to_rank_1"
    subject = tmp_path / "lowers.py"
    subject.write_text(LOWERS.format(module=module, name="Rank0ToRank1Pass"))
    outcome = run(subject, lend, oracle="metadata")
    assert outcome.code is ExitCode.REDUCED
    assert outcome.finding.case.operators == 1
    assert outcome.finding.signature.compiler_pass == "Rank0ToRank1Pass"
    report = told(outcome)["report.md"]
    assert "does not raise, but a compiler pass breaks the program" in report
    assert report.splitlines()[1].startswith("# [exir] after Rank0ToRank1Pass, meta")


def test_two_fake_modes_that_nothing_complains_about_are_reduced(tmp_path: Path) -> None:
    """The pass is planted: it is in the packages of an interpreter, so that a stranger's run finds it."""
    venv.create(tmp_path / "venv", with_pip=False, symlinks=True)
    (site,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    (site / "beside.pth").write_text(sysconfig.get_path("purelib"))
    (site / "quiet_pass.py").write_text(QUIET)
    subject = tmp_path / "lowers.py"
    subject.write_text(LOWERS.format(module="quiet_pass", name="QuietPass"))
    python = str(tmp_path / "venv" / "bin" / "python")
    chosen = ReduceSettings(
        str(subject), output=tmp_path / "out", python=python, oracle="one-fake-mode"
    )
    outcome = reduce_subject(chosen, lambda _: None)
    assert outcome.code is ExitCode.REDUCED
    assert [node.target for node in outcome.finding.case.graph.nodes] == ["aten.sigmoid.default"]
    assert outcome.finding.signature.compiler_pass == "QuietPass"
    assert outcome.finding.signature.types == ("one-fake-mode",)


def test_explain_lowers_once(
    planted: Path, lend: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs: list[Job] = []
    original = Worker.run

    def noted(self: Worker, job: Job, limits: Limits) -> Answer:
        jobs.append(job)
        return original(self, job, limits)

    monkeypatch.setattr(Worker, "run", noted)
    explained = explain_subject(ReduceSettings(str(planted), "xnnpack"), open_worker=lend)  # type: ignore[arg-type]
    assert [type(job) for job in jobs] == [CaptureJob]
    found = explained.diagnosis.explanation
    assert found.failure is not None
    assert found.invariants == INVARIANTS
    assert {"load", "export", "to_edge"} == {stage for stage, _ in found.seconds}
