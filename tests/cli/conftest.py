"""What do tests of the command need? A run without torch, and a command line to start it with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from emit_cases import call, case

from reducer.cli.app import main
from reducer.core.errors import ExitCode
from reducer.core.events import (
    Captured,
    Confirmed,
    Event,
    Improved,
    Judged,
    Note,
    PhaseBegan,
    Started,
)
from reducer.core.finding import Finding, Ledger, Slip
from reducer.core.recipe import Construct, Recipe
from reducer.core.signature import ChainLink, Failure, Frame, MatchRule, signature_of
from reducer.core.stage import Stage
from reducer.core.verdict import Verdict
from reducer.core.wire import Environment
from reducer.workflows import reduce as workflow
from reducer.workflows.outcome import Outcome
from reducer.workflows.output import OutputFolder
from reducer.workflows.settings import ReduceSettings

FAILURE = Failure(
    Stage.PREPROCESS,
    (
        ChainLink("Exception", "An error occurred when running the 'Fuse' pass\nmore"),
        ChainLink(
            "AssertionError", "two \x1b[31mfake\x1b[0m modes", (Frame("torch.fake", "find"),)
        ),
    ),
)

REPRO = """\
# Lowering fails.
import torch


class Repro(torch.nn.Module):
    def forward(self, x):
        return torch.arange(1) * 2


example_inputs = (torch.zeros(1),)


def lower():
    return to_edge_transform_and_lower(Repro())


# The failure of record.
TYPES = ["Exception"]
"""


def events(root: Path) -> list[Event]:
    """A short run as it is reported."""
    path = root / "repro.py"
    return [
        Started("net.py", "vulkan", root, 3),
        Captured("model file", Stage.PREPROCESS, FAILURE, signature_of(FAILURE), "vulkan", 303, 9.4,
                 ("option x is left out",)),
        PhaseBegan("isolate", 303),
        Judged("isolate", Verdict.SAME, 6, 6, 1, 2.0, False, 20),
        Improved(6, path),
        PhaseBegan("elements", 6),
        Judged("cut-nodes", Verdict.PASSES, 5, 6, 2, 1.0, False, 10),
        Improved(6, path),
        Judged("cut-nodes", Verdict.SAME, 2, 2, 3, 3.0, False, 5),
        Improved(2, path),
        Note("a remark"),
        PhaseBegan("confirm", 2),
        Confirmed(True, path, 12.3),
    ]  # fmt: skip


def run_outcome(code: ExitCode = ExitCode.REDUCED, message: str = "") -> Outcome:
    """What that run comes to."""
    status = {ExitCode.REDUCED: "confirmed", ExitCode.STOPPED: "stopped"}.get(code, "interrupted")
    small = case((call("add", "aten.add.Tensor", "%x", "%x"),), "%add")
    recipe = Recipe("vulkan", (Construct("executorch.p:P"),))
    finding = Finding(
        "net.py",
        type(small)(small.graph, recipe),
        signature_of(FAILURE),
        FAILURE,
        MatchRule(),
        Environment("3.11", "2.13.0", "1.5.1"),
        status,
        303,
        slips=(Slip(signature_of(FAILURE), "ValueError: other", 4, "others/1/repro.py"),),
        ledger=Ledger(3, verdicts=(("same", 2), ("passes", 1))),
    )
    return Outcome(
        code, finding, OutputFolder(Path("reduced/net")), {"search": 6.0, "capture": 9.4}, message
    )


@pytest.fixture
def finished() -> Callable[..., Outcome]:
    """Makes the outcome of a run: ``finished(code, message)``."""
    return run_outcome


@pytest.fixture
def run_events() -> list[Event]:
    """The events of a run that writes to ``reduced/net``."""
    return events(Path("reduced/net"))


@dataclass
class Result:
    """What a command line gave."""

    code: int
    out: str
    err: str


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Result]:
    """Run ``reduce ...`` in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERM", "dumb")

    def run(*arguments: str) -> Result:
        capsys.readouterr()
        code = main(arguments)
        out, err = capsys.readouterr()
        return Result(code, out, err)

    return run


@pytest.fixture
def workflow_that(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[ReduceSettings]]:
    """Put a fake in the place of the workflow: ``ends`` is an Outcome, an exception, or a function.

    Returns the list that fills with the settings it was called with.
    """

    def replace(ends: Any, *, after: int = 99) -> list[ReduceSettings]:
        calls: list[ReduceSettings] = []

        def reduce_subject(settings: ReduceSettings, report: Callable[[Event], None]) -> Outcome:
            calls.append(settings)
            root = Path("reduced/net")
            (root / "state").mkdir(parents=True, exist_ok=True)
            (root / "repro.py").write_text(REPRO)
            for event in events(root)[:after]:
                report(event)
            if isinstance(ends, BaseException):
                raise ends
            return ends(settings) if callable(ends) else ends  # type: ignore[no-any-return]

        monkeypatch.setattr(workflow, "reduce_subject", reduce_subject)
        return calls

    return replace
