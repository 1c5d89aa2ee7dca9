"""Shrink Ray on the script of the whole case, as text.

A program of its own (``shrinkray`` on the path, or named by the variable SHRINKRAY; it wants Python 3.12 or
later). Its test is a client of a few lines that hands the text to this process, which asks the warm worker:
so it pays no import either. To be kind to it, the script has no check of the failure, and zeros in place
of stored numbers.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from reducer.core.case import Fill, Input
from reducer.core.finding import Finding
from reducer.core.signature import MatchRule, signature_of
from reducer.emit.repro_script import short_form
from reducer.emit.settle import wanted_targets
from tests.bench.task import Task

#: The test: exit code 0 if the text on its standard input is interesting.
_CLIENT = """\
#!{python} -IS
import socket, sys
text = sys.stdin.buffer.read()
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect({address!r})
    connection.sendall(text)
    connection.shutdown(socket.SHUT_WR)
    sys.exit(connection.recv(1) != b"y")
"""
_OPTIONS = (
    "--ui=basic", "--volume=quiet", "--parallelism=1", "--input-type=stdin", "--formatter=none",
    "--assume-deterministic", "--timeout=0",
)  # fmt: skip


def run(task: Task) -> None:
    """Run it on the script; the smallest program that it saw fail is in the oracle's log."""
    program = os.environ.get("SHRINKRAY") or shutil.which("shrinkray")
    if program is None:
        raise FileNotFoundError("shrinkray is not installed: name it in SHRINKRAY")
    folder = task.folder.resolve()
    script, client = folder / "script.py", folder / "test"
    place = tempfile.TemporaryDirectory()  # a socket's path has to be short
    address = Path(place.name) / "socket"
    script.write_text(text_of(task), encoding="utf-8")
    client.write_text(_CLIENT.format(python=sys.executable, address=str(address)))
    client.chmod(0o755)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(address))
        server.listen()
        with (folder / "shrinkray.log").open("wb") as log:
            process = subprocess.Popen(
                [program, *_OPTIONS, str(client), str(script)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder, start_new_session=True,
            )  # fmt: skip
        try:
            _serve(server, process, task)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if task.oracle.best is None:
        raise RuntimeError(f"its script does not fail in the same way: {_last_line(folder)}")


def text_of(task: Task) -> str:
    """The script of the whole case, without its check; each call is spelled so that it is exported as it is."""
    failure = task.attempt.failure
    assert failure is not None
    graph = task.case.graph
    case = task.case.with_graph(replace(graph, inputs=tuple(_plain(item) for item in graph.inputs)))
    finding = Finding(
        subject="script.py", case=case, signature=signature_of(failure), failure=failure,
        rule=MatchRule(), environment=task.oracle.judge.worker.environment, status="unconfirmed",
        operators_before=case.operators,
    )  # fmt: skip
    return short_form(finding, dict.fromkeys(wanted_targets(case), -1))


def _plain(item: Input) -> Input:
    return replace(item, fill=Fill("zeros")) if item.fill.kind == "data" else item


def _serve(server: socket.socket, process: subprocess.Popen[bytes], task: Task) -> None:
    """Answer until it has ended. Raises BudgetSpent."""
    server.settimeout(0.2)
    while process.poll() is None:
        try:
            connection, _ = server.accept()
        except TimeoutError:
            continue
        with connection:
            connection.settimeout(None)
            chunks = list(iter(lambda: connection.recv(1 << 16), b""))  # noqa: B023
            try:
                text = b"".join(chunks).decode("utf-8")
            except UnicodeDecodeError:
                continue
            same = task.oracle.script(text)
            with suppress(OSError):  # it may not wait any longer
                connection.sendall(b"y" if same else b"n")


def _last_line(folder: Path) -> str:
    lines = (folder / "shrinkray.log").read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing"
