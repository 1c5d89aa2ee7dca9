"""A run that is killed at any moment loses at most the call in flight.

The number of kills is ``REDUCE_KILLS`` (default 3; the acceptance run uses 20).
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reducer.emit.record import read_finding
from reducer.oracle.store import Store

pytestmark = pytest.mark.torch

SUBJECT = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(16, 16), torch.nn.Linear(9, 4)

    def forward(self, x, y):
        x = torch.relu(self.first(x)) + y
        z = torch.fft.rfft(x.tanh() * 2).abs()
        return self.second(z).softmax(-1), x.sum(-1)

torch.manual_seed(0)
model = Model().eval()
example_inputs = (torch.randn(3, 16), torch.randn(16))
"""


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("resume") / "subject.py"
    path.write_text(SUBJECT)
    return path


def start(subject: Path, output: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "reducer", str(subject), "--backend", "portable", "--json"]
    return subprocess.Popen(
        [*command, "-o", str(output)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # a test run in the background of a shell inherits that Ctrl-C is ignored
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  no threads here
    )


def test_killed_and_resumed_it_ends_as_if_nothing_had_happened(subject: Path, tmp_path: Path):
    began = time.monotonic()
    whole = start(subject, tmp_path / "whole")
    document = json.loads(whole.communicate()[0])
    assert document["exit_code"] == 0, document
    duration = time.monotonic() - began

    kills = int(os.environ.get("REDUCE_KILLS", "3"))
    moments = random.Random(0)
    for _ in range(kills):
        run = start(subject, tmp_path / "killed")
        time.sleep(moments.uniform(0.0, duration))
        os.killpg(run.pid, signal.SIGKILL)
        run.communicate()
        script = tmp_path / "killed" / "repro.py"
        if script.exists():  # whatever is there is whole
            compile(script.read_text(), str(script), "exec")
            read_finding(tmp_path / "killed" / "finding.json")
    last = json.loads(start(subject, tmp_path / "killed").communicate()[0])
    assert last["exit_code"] == 0, last

    same = [(tmp_path / name / "repro.py").read_text() for name in ("whole", "killed")]
    assert same[0] == same[1]
    findings = [read_finding(tmp_path / name / "finding.json") for name in ("whole", "killed")]
    assert findings[0].case == findings[1].case
    assert findings[0].certificate == findings[1].certificate
    assert findings[0].ledger.calls == findings[1].ledger.calls
    store = Store(tmp_path / "killed" / "state" / "verdicts.sqlite")
    assert store.most_paid == 1, "a call was paid twice"
    store.close()


def test_ctrl_c_keeps_the_best_case_and_says_so(subject: Path, tmp_path: Path):
    run = start(subject, tmp_path / "out")
    deadline = time.monotonic() + 120
    while not (tmp_path / "out" / "repro.py").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(run.pid, signal.SIGINT)
    output, errors = run.communicate()
    assert run.returncode == 130, errors
    assert json.loads(output)["status"] == "interrupted"
    assert read_finding(tmp_path / "out" / "finding.json").status == "interrupted"
    compile((tmp_path / "out" / "repro.py").read_text(), "repro.py", "exec")
    assert "Traceback" not in errors
