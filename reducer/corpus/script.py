"""What does an entry's script say, run by a stranger in a sandbox?"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from reducer.oracle import sandbox
from reducer.oracle.interpreter import Interpreter

#: What of the output is looked at, in bytes.
_TAIL = 16_384


def run(
    place: Path, command: Sequence[str], interpreter: Interpreter, seconds: float
) -> tuple[int | None, str]:
    """Run ``python *command`` in the folder ``place``, and whatever it starts.

    Returns its exit code (None: killed when the time was over) and the last line that it printed.
    """
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            [*sandbox.wrap(place), interpreter.python, *command],
            cwd=place,
            env=interpreter.script_variables,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        code: int | None = None
        try:
            with suppress(subprocess.TimeoutExpired):
                code = process.wait(seconds)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(max(0, output.seek(0, os.SEEK_END) - _TAIL))
        lines = output.read().decode("utf-8", "replace").strip().splitlines()
    return code, lines[-1].strip().replace(f"{place}/", "") if lines else ""
