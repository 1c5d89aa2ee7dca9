"""Do arguments reach the workflow, and does each ending give its exit code and its words?"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reducer.cli import reduce as command_module
from reducer.cli.app import COMMANDS
from reducer.core import errors
from reducer.core.errors import ExitCode
from reducer.core.signature import MatchRule
from reducer.workflows.settings import ReduceSettings


def test_arguments_become_settings(
    command: Any, workflow_that: Any, finished: Any, tmp_path: Path
) -> None:
    calls = workflow_that(finished())
    result = command(
        "net.py", "-b", "vulkan", "-O", "small=true", "-O", '{"level": 2}', "-o", str(tmp_path),
        "--match", "type", "--timeout", "90", "--max-calls", "5", "--budget", "10m",
        "--", "--size", "4", "--", "x",
    )  # fmt: skip
    assert result.code == 0
    assert calls == [
        ReduceSettings(
            subject="net.py",
            backend="vulkan",
            options=(("small", True), ("level", 2)),
            output=tmp_path,
            rule=MatchRule("type"),
            timeout=90.0,
            max_calls=5,
            budget=600.0,
            argv=("--size", "4", "--", "x"),
            python=sys.executable,
        )
    ]


def test_defaults(command: Any, workflow_that: Any, finished: Any) -> None:
    calls = workflow_that(finished())
    command("./backends")  # a file of that name, not the command
    assert calls == [ReduceSettings("./backends", python=sys.executable)]


def test_options_may_come_first(command: Any, workflow_that: Any, finished: Any) -> None:
    calls = workflow_that(finished())
    assert command("--backend", "xnnpack", "net.py").code == 0
    assert (calls[0].subject, calls[0].backend) == ("net.py", "xnnpack")


#: (error of the workflow, exit code, words on stderr)
ENDINGS = [
    (errors.NoFailure("it passes", hint="try another"), 3, "it passes\n  try another"),
    (errors.BadInput("no such thing"), 2, "no such thing"),
    (errors.NotReproducible("gone"), 4, "gone"),
    (errors.NotHandled("a crash"), 5, "a crash"),
    (errors.NoEnvironment("no torch"), 7, "no torch"),
    (errors.WorkerDied("it ended"), 1, "it ended"),
    (KeyboardInterrupt(), 130, "interrupted in phase confirm after 3 calls"),
    (
        ZeroDivisionError("division by zero"),
        1,
        "internal error in phase confirm after 3 calls: Zero",
    ),
]


@pytest.mark.parametrize(("error", "code", "words"), ENDINGS, ids=lambda item: type(item).__name__)
def test_errors_end_with_their_code(
    error: BaseException, code: int, words: str, command: Any, workflow_that: Any
) -> None:
    workflow_that(error)
    for result in (command("net.py"), command("net.py", "--quiet")):
        assert result.code == code
        assert f"reduce: {words}" in result.err
        assert "Traceback" not in result.err
        assert result.out == ""


@pytest.mark.parametrize(("error", "code", "words"), ENDINGS, ids=lambda item: type(item).__name__)
def test_errors_as_json(
    error: BaseException, code: int, words: str, command: Any, workflow_that: Any
) -> None:
    workflow_that(error)
    result = command("net.py", "--json", "--quiet")
    found = json.loads(result.out)
    assert (result.code, found["exit_code"], found["subject"]) == (code, code, "net.py")
    assert found["message"] == words.splitlines()[0] or found["message"].startswith(words)
    assert found["stage"] == "preprocess"
    assert found["operators"] == {"before": 303, "after": 2}
    assert result.err == ""


def test_debug_shows_the_traceback(command: Any, workflow_that: Any) -> None:
    workflow_that(ZeroDivisionError("x"))
    assert "Traceback" in command("net.py", "--debug").err


def test_traceback_of_a_bug_is_kept(command: Any, workflow_that: Any, tmp_path: Path) -> None:
    workflow_that(ZeroDivisionError("x"))
    assert "error.log" in command("net.py").err
    kept = (tmp_path / "reduced/net/state/error.log").read_text()
    assert kept.endswith("ZeroDivisionError: x\n")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize(("after", "where"), [(1, "while the subject was captured"),
                                              (2, "before the search"), (4, "in phase isolate")])  # fmt: skip
def test_signals_interrupt(
    number: signal.Signals, after: int, where: str, command: Any, workflow_that: Any
) -> None:
    def killed(_: ReduceSettings) -> None:
        os.kill(os.getpid(), number)
        time.sleep(5)

    workflow_that(killed, after=after)
    began = time.monotonic()
    result = command("net.py", "--quiet")
    assert result.code == 130
    assert f"interrupted {where}" in result.err
    assert "run the same command again" in result.err
    assert time.monotonic() - began < 4


@pytest.mark.parametrize(
    ("code", "message"),
    [(ExitCode.REDUCED, ""), (ExitCode.STOPPED, "--max-calls 3 reached"),
     (ExitCode.INTERRUPTED, "Ctrl-C or SIGTERM came after 3 paid calls")],
)  # fmt: skip
def test_outcomes(
    code: ExitCode, message: str, command: Any, workflow_that: Any, finished: Any
) -> None:
    workflow_that(finished(code, message))
    result = command("net.py")
    assert result.code == code
    assert "303 operators -> 1" in result.out
    assert message in result.out
    found = json.loads(command("net.py", "--json").out)
    assert (found["exit_code"], found["message"]) == (code, message)
    quiet = command("net.py", "-q")
    assert quiet.out == "reduced/net/repro.py\n"
    assert quiet.err == (f"reduce: {message}\n" if message else "")


def test_json_document(command: Any, workflow_that: Any, finished: Any) -> None:
    workflow_that(finished())
    found = json.loads(command("net.py", "--json").out)
    assert found["status"] == "confirmed"
    assert found["stage"] == "preprocess"
    assert found["signature"]["raised_in"] == "torch.fake:find"
    assert found["operators"] == {"before": 303, "after": 1}
    assert found["calls"] == 3
    assert found["verdicts"] == {"same": 2, "passes": 1}
    assert found["seconds"] == {"search": 6.0, "capture": 9.4}
    assert found["paths"]["repro"] == "reduced/net/repro.py"
    assert found["other_failures"][0]["path"] == "reduced/net/others/1/repro.py"


def test_json_has_the_same_keys_either_way(command: Any, workflow_that: Any, finished: Any) -> None:
    workflow_that(finished())
    good = json.loads(command("net.py", "--json").out)
    workflow_that(errors.BadInput("no"), after=0)
    assert json.loads(command("net.py", "--json").out).keys() == good.keys()


def test_several_subjects(command: Any, workflow_that: Any, finished: Any) -> None:
    def end(settings: ReduceSettings) -> Any:
        if settings.subject == "b.py":
            raise errors.NoFailure("it passes")
        return finished()

    calls = workflow_that(end)
    result = command("a.py", "b.py", "c.py", "--json")
    assert [call.subject for call in calls] == ["a.py", "b.py", "c.py"]
    assert result.code == 3
    assert [item["exit_code"] for item in json.loads(result.out)] == [0, 3, 0]


def test_interruption_ends_all_subjects(command: Any, workflow_that: Any) -> None:
    calls = workflow_that(KeyboardInterrupt())
    assert command("a.py", "b.py").code == 130
    assert len(calls) == 1


#: (arguments, part of the message): refused before anything is started.
REFUSED = [
    ([], "Missing argument"),
    (["-b"], "requires an argument"),
    (["net.py", "--no-such-option"], "No such option"),
    (["net.py", "--max-calls", "0"], "--max-calls"),
    (["net.py", "--max-calls", "many"], "--max-calls"),
    (["net.py", "--budget", "soon"], "--budget 'soon' is no length of time"),
    (["net.py", "--timeout", "-1"], "--timeout"),
    (["net.py", "--match", "loose"], "--match 'loose' is unknown"),
    (["net.py", "--match-regex", "("], "not a regular expression"),
    (["net.py", "--match-regex", "x", "--match", "type"], "exclude each other"),
    (["net.py", "-O", "novalue"], "not of the form key=value"),
    (["net.py", "-O", "{"], "is not JSON"),
    (["net.py", "--python", "/no/python"], "cannot be run"),
    (["a.py", "b.py", "-o", "x"], "-o names one folder"),
    (["--", "only", "script", "arguments"], "Missing argument"),
    (["backends", "vulkan"], "unexpected extra argument"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED)
def test_refused_arguments(
    arguments: list[str], message: str, command: Any, workflow_that: Any
) -> None:
    calls = workflow_that(AssertionError("not to be started"))
    result = command(*arguments)
    assert result.code == 2
    assert message in result.err
    assert result.err.startswith("reduce: ")
    assert len(result.err.splitlines()) <= 3
    assert calls == []
    as_json = command(*arguments[:1], "--json", *arguments[1:])
    if arguments and arguments[0] not in ("--", "-b"):
        assert message in json.loads(as_json.out)["message"]


def test_help_documents_every_exit_code_and_command(command: Any) -> None:
    result = command("--help")
    assert result.code == 0
    listed = re.findall(r"^ +(\d+)  +\S", result.out, re.MULTILINE)
    assert [int(code) for code in listed] == sorted(ExitCode)
    assert sorted(command_module.SEVERITY) == sorted(ExitCode)
    for name in COMMANDS:
        assert f"reduce {name}" in result.out


def test_version(command: Any) -> None:
    import reducer

    assert command("--version").out == f"reduce {reducer.__version__}\n"


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from reducer.cli.app import main; main(['--help'])\n"
        "print([name for name in ('torch', 'executorch', 'rich', 'jinja2') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_reader_that_goes_away(command: Callable[..., Any], workflow_that: Any) -> None:
    workflow_that(BrokenPipeError())
    stdout = os.dup(1)
    try:
        assert command("net.py").code == 2
    finally:
        os.dup2(stdout, 1)
        os.close(stdout)


@pytest.mark.parametrize(
    ("arguments", "into", "message"),
    [
        ("--help", "| true", "Broken pipe"),
        ("--help", "> /dev/full", "No space left on device"),
        ("no.py --json", "| true", "Broken pipe"),
        ("no.py --json", "> /dev/full", "No space left on device"),
        ("no.py", "> /dev/full", None),  # nothing is to be written there
        ("no.py", "2> /dev/full", None),
    ],
)
def test_standard_output_that_cannot_be_written(
    arguments: str, into: str, message: str | None
) -> None:
    # what reads is gone before anything is written
    run = f"{{ sleep 0.2; exec {sys.executable} -m reducer {arguments}; }}"
    script = f"set -o pipefail; {run} {into}"
    done = subprocess.run(["bash", "-c", script], check=False, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    if message is not None:
        assert done.stderr == f"reduce: cannot write to standard output: {message}\n"
    assert "Traceback" not in done.stderr
