"""Is what a person sees complete, plain where it must be, and short?"""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reducer.cli.backends import document, table
from reducer.cli.render.document import outcome_document
from reducer.cli.render.lines import Lines
from reducer.cli.render.live import LiveScreen
from reducer.cli.render.progress import Progress
from reducer.cli.render.screen import open_screen
from reducer.cli.render.summary import summary
from reducer.core.errors import ExitCode
from reducer.core.events import Event
from reducer.core.finding import PassLevel
from reducer.core.recipe import Construct, PassCall
from reducer.core.wire import BackendStatus, Environment
from reducer.workflows.output import OutputFolder

PLAIN = """\
net.py with vulkan -> reduced/net
3 stored results of earlier runs
fails in preprocess: model file of 303 operators, lowered with vulkan (9.4 s)
  observed: Exception: An error occurred when running the 'Fuse' pass
  names:    Fuse
  cause:    AssertionError: two fake modes
  note:     option x is left out
isolate:     303 operators
             6 operators after 1 call
elements:    6 operators
             2 operators after 3 calls
note: a remark
confirm:     2 operators
reduced/net/repro.py fails the same way in a clean process (12 s)
"""

SUMMARY = """\
reduced: 303 operators -> 1, confirmed in a clean process

  stage     preprocess (vulkan)
  observed  Exception: An error occurred when running the 'Fuse' pass
  names     Fuse
  cause     AssertionError: two fake modes
  calls     3 paid, 3 verdicts: 2 same, 1 passes
  time      15 s (capture 9.4 s, search 6.0 s)
  script    reduced/net/repro.py
  record    reduced/net/finding.json

1 other failure met on the way, not followed:
  ValueError: other (reduced/net/others/1/repro.py)

class Repro(torch.nn.Module):
    def forward(self, x):
        return torch.arange(1) * 2


example_inputs = (torch.zeros(1),)


def lower():
    return to_edge_transform_and_lower(Repro())"""


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_plain_lines(run_events: list[Event]) -> None:
    out = io.StringIO()
    with open_screen(out, Progress()) as report:
        for event in run_events:
            report(event)
    assert out.getvalue() == PLAIN
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", out.getvalue())


def test_quiet_says_nothing_but_follows(run_events: list[Event]) -> None:
    out, progress = Terminal(), Progress()
    with open_screen(out, progress, quiet=True) as report:
        for event in run_events:
            report(event)
    assert out.getvalue() == ""
    assert (progress.calls, progress.operators, progress.phase) == (3, 2, "confirm")


@pytest.mark.parametrize("no_color", [True, False])
def test_terminal(run_events: list[Event], monkeypatch: pytest.MonkeyPatch, no_color: bool) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    if no_color:
        monkeypatch.setenv("NO_COLOR", "1")
    else:
        monkeypatch.delenv("NO_COLOR", raising=False)
    out = Terminal()
    with open_screen(out, Progress()) as report:
        assert isinstance(report.__self__, LiveScreen)  # type: ignore[attr-defined]
        for event in run_events:
            report(event)
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", out.getvalue())
    for line in PLAIN.splitlines():
        assert line in shown
    assert ("\x1b[36m" in out.getvalue()) is not no_color


def test_dumb_terminal_gets_plain_lines(
    run_events: list[Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    out = Terminal()
    with open_screen(out, Progress()) as report:
        for event in run_events:
            report(event)
    assert out.getvalue() == PLAIN


#: (events so far, seconds since the start, the live line)
LIVE = [
    (0, 0.0, "start and capture · 0.00 s"),
    (1, 12.0, "start and capture · 12 s"),
    (3, 15.0, "isolate · 303 operators left · 15 s"),
    (4, 17.0, "isolate · 6 operators left · 1 call · 2.0 s each · about 40 s to go · 17 s"),
    (9, 95.0, "elements · 2 operators left · 3 calls · 2.0 s each · about 10 s to go · 1 min 35 s"),
]


@pytest.mark.parametrize(("number", "elapsed", "line"), LIVE)
def test_live_line(run_events: list[Event], number: int, elapsed: float, line: str) -> None:
    lines = Lines(Progress())
    for event in run_events[:number]:
        lines.of(event)
    assert lines.progress.line(elapsed) == line


def test_summary(
    finished: Any, command: Any, workflow_that: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    workflow_that(finished())
    assert command("net.py").out == f"\n{SUMMARY}\n"


def test_summary_of_a_resumed_run(finished: Any, command: Any) -> None:
    outcome = finished()
    ledger = replace(outcome.finding.ledger, resumed=2)
    told = summary(replace(outcome, finding=replace(outcome.finding, ledger=ledger)))
    assert "calls     3 paid (2 by earlier runs), 3 verdicts: 2 same, 1 passes" in told


def test_summary_and_document_say_what_the_search_cost(finished: Any, command: Any) -> None:
    outcome = finished()
    ledger = replace(
        outcome.finding.ledger, bound=9, steps=((1, 303), (2, 6), (3, 1)), gates=(("seen", 4), ("export", 2)),
    )  # fmt: skip
    outcome = replace(outcome, finding=replace(outcome.finding, ledger=ledger))
    row = "search    bound 9 calls; smaller after 2 calls; 6 candidates cost none: 4 seen, 2 export"
    assert summary(outcome).splitlines()[7].strip() == row
    document = outcome_document("net.py", outcome)
    assert (document["calls_bound"], document["refused"]) == (9, {"seen": 4, "export": 2})


def test_summary_names_the_data_file(finished: Any, tmp_path: Path, command: Any) -> None:
    (tmp_path / "reduced/net").mkdir(parents=True)
    (tmp_path / "reduced/net/repro.safetensors").write_bytes(b"")
    assert "reduced/net/repro.safetensors (its values matter" in summary(finished())


def test_summary_and_document_say_whether_one_pass_shows_it(
    finished: Any, tmp_path: Path, command: Any
) -> None:
    def told(level: PassLevel) -> tuple[str, Any]:
        outcome = finished()
        finding = replace(outcome.finding, pass_level=level)
        outcome = replace(outcome, finding=finding, folder=OutputFolder(tmp_path))
        return summary(outcome), outcome_document("net.py", outcome)

    text, document = told(PassLevel(reason="it is raised elsewhere"))
    assert "pass      cannot be shown with one pass alone: it is raised elsewhere" in text
    assert document["pass_alone"]["reason"] == "it is raised elsewhere"
    assert not document["pass_alone"]["shown"]
    assert "pass_repro" not in document["paths"]
    (tmp_path / "repro_pass.py").touch()
    (tmp_path / "test_repro.py").touch()
    case = finished().finding.case
    alone = PassCall(Construct("executorch.exir.pass_base:ExportPass"))
    shown = replace(case, recipe=replace(case.recipe, alone=alone))
    text, document = told(
        PassLevel(shown, finished().finding.failure, "one-fake-mode", "confirmed")
    )
    assert "pass      repro_pass.py" in text
    assert "test      test_repro.py" in text
    assert document["pass_alone"] == {
        "shown": True,
        "pass": "executorch.exir.pass_base:ExportPass",
        "oracle": "one-fake-mode",
        "operators": 1,
        "reason": "",
    }
    assert document["paths"]["pass_repro"] == str(tmp_path / "repro_pass.py")
    assert document["paths"]["test"] == str(tmp_path / "test_repro.py")


def test_summary_of_what_fell_short(finished: Any, command: Any) -> None:
    told = summary(finished(ExitCode.STOPPED, "--budget of 5 s spent; smaller may be possible"))
    first = "stopped: 303 operators -> 1; --budget of 5 s spent; smaller may be possible"
    assert told.splitlines()[0] == first


def test_backends() -> None:
    environment = Environment(torch="2.13.0", executorch="1.5.1")
    rows = [
        BackendStatus("coreml", False, "no module named 'coremltools'; needs coremltools " * 3),
        BackendStatus("vulkan", True, "", Construct("a.b:VulkanPartitioner")),
    ]
    lines = table(environment, rows).splitlines()
    assert lines[:3] == ["torch 2.13.0, executorch 1.5.1", "", "vulkan  usable"]
    assert lines[3].startswith("coreml  not usable  no module named")
    assert lines[4].startswith(" " * 20)
    assert max(map(len, lines)) <= 100
    found = document(environment, rows)["backends"]
    assert found[1] == {
        "name": "vulkan", "usable": True, "reason": "", "partitioner": "a.b:VulkanPartitioner"
    }  # fmt: skip
