"""Which command do these arguments mean, and how does the process end?

``reduce SUBJECT`` is the default command: whatever is not the name of another one belongs to it.
Only the module of the command that was asked for is imported: so ``--help`` answers at once.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module

from reducer.cli.ending import Manner, ended_by, finish
from reducer.core.errors import ExitCode

DEFAULT = "reducer.cli.reduce"

#: Commands beside the default one: their module, which has a typer app called ``app``.
COMMANDS = {
    "backends": "reducer.cli.backends",
    "bisect": "reducer.cli.bisect",
    "corpus": "reducer.cli.corpus",
    "explain": "reducer.cli.explain",
    "matrix": "reducer.cli.matrix",
    "verify": "reducer.cli.verify",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code. ``arguments`` None: those of the process."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    own, script = split_script_arguments(given)
    module, name = DEFAULT, "reduce"
    if own and own[0] in COMMANDS:
        module, name = COMMANDS[own[0]], f"reduce {own.pop(0)}"
    manner = Manner(json="--json" in own, debug="--debug" in own)
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C
    try:
        app = import_module(module).app
        code = int(app(own, prog_name=name, standalone_mode=False, obj=tuple(script)) or 0)
        if code == ExitCode.INTERRUPTED and module != DEFAULT:  # typer makes nothing else of Ctrl-C
            return finish(ended_by(KeyboardInterrupt()), manner)
        return code
    except (Exception, KeyboardInterrupt) as error:
        return finish(ended_by(error), manner)
    except SystemExit:  # the argument parser's way when whoever read its output has gone
        return finish(ended_by(BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))), manner)
    finally:
        signal.signal(signal.SIGTERM, before)


def split_script_arguments(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """What is for the command, and what follows ``--``: that is for the user's script.

    >>> split_script_arguments(["run.py", "-b", "vulkan", "--", "--size", "4"])
    (['run.py', '-b', 'vulkan'], ['--size', '4'])
    """
    given = list(arguments)
    if "--" not in given:
        return given, []
    place = given.index("--")
    return given[:place], given[place + 1 :]
