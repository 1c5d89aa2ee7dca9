"""How does a command end when something is in the way: which exit code, which words?"""

from __future__ import annotations

import errno
import json
import os
import sys
import traceback
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reducer.cli.render.words import printable
from reducer.core.errors import ExitCode, ReducerError

REPORT = "please report it with the traceback"

#: Characters of one line that is shown; messages may come from anywhere.
_LONGEST = 500

#: Errors of a stream that takes no more.
_NOT_WRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EIO)


@dataclass(frozen=True)
class Manner:
    """How the user wants to be told: as JSON or as text; with a traceback or without."""

    json: bool = False
    debug: bool = False


@dataclass(frozen=True)
class Ending:
    """Exit code, what is wrong, what to do next, and the exception behind it."""

    code: ExitCode
    message: str
    hint: str = ""
    error: BaseException | None = None

    @property
    def status(self) -> str:
        """The exit code in a word, for machines."""
        return self.code.name.lower().replace("_", "-")


def ended_by(error: BaseException, *, where: str = "", output: Path | None = None) -> Ending:
    """The ending that an exception means.

    ``where`` says what was going on; ``output`` is the folder of the run, if there is one: the
    traceback of a bug in reducer goes there.
    """
    if isinstance(error, ReducerError):
        return Ending(error.exit_code, error.message, error.hint, error)
    if isinstance(error, KeyboardInterrupt) or type(error).__name__ == "Abort":
        kept = "run the same command again: what was paid for is kept" if output else ""
        return Ending(ExitCode.INTERRUPTED, f"interrupted{where and ' '}{where}", kept, error)
    if (usage := getattr(error, "format_message", None)) is not None:
        # typer's own errors; it brings click under one name or another, so no class to catch.
        return Ending(ExitCode.BAD_INPUT, str(usage()), "see reduce --help", error)
    return _internal_error(error, where, output)


def tell(ending: Ending, manner: Manner) -> None:
    """Tell a person what happened; with ``--json`` the document does that."""
    with suppress(OSError):  # nobody is there to be told
        if manner.debug and ending.error is not None:
            traceback.print_exception(ending.error)
        if not manner.json:
            print(error_text(ending), file=sys.stderr)


class OutputLost(ReducerError):
    """Standard output cannot be written: whoever read it has gone, or the disk is full."""

    exit_code = ExitCode.BAD_INPUT

    def __init__(self, error: OSError) -> None:
        super().__init__(f"cannot write to standard output: {error.strerror or 'broken pipe'}")


def put(text: str) -> None:
    """Print on standard output, at once. Raises OutputLost."""
    try:
        print(text, flush=True)
    except OSError as error:
        raise OutputLost(error) from error


def finish(ending: Ending, manner: Manner) -> int:
    """End a command that did not come as far as a subject; returns the exit code."""
    error = ending.error
    if isinstance(error, BrokenPipeError) or (
        isinstance(error, OSError) and error.errno in _NOT_WRITTEN and error.filename is None
    ):
        error = OutputLost(error)  # what the argument parser printed, or what is going on
    if isinstance(error, OutputLost):
        tell(ended_by(error), Manner())
        # What the stream still holds goes nowhere, instead of failing once more when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return int(error.exit_code)
    tell(ending, manner)
    if manner.json:
        try:
            put(json.dumps(short_document(ending), indent=1))
        except OutputLost as lost:
            return finish(ended_by(lost), manner)
    return int(ending.code)


def error_text(ending: Ending) -> str:
    """Two paragraphs at most: what is wrong, and what to do.

    >>> print(error_text(Ending(ExitCode.BAD_INPUT, "no such file", "check the path")))
    reduce: no such file
      check the path
    """
    message = printable(" ".join(ending.message.split()))
    lines = [message if len(message) <= _LONGEST else message[: _LONGEST - 3] + "..."]
    lines += [f"  {line[:_LONGEST]}" for line in printable(ending.hint).splitlines()]
    return "reduce: " + "\n".join(lines)


def short_document(ending: Ending) -> dict[str, Any]:
    """The ending of a command that did not come as far as a subject."""
    return {
        "status": ending.status,
        "exit_code": int(ending.code),
        "message": ending.message,
        "hint": ending.hint,
    }


def _internal_error(error: BaseException, where: str, output: Path | None) -> Ending:
    text = str(error).strip().splitlines()
    what = f"{type(error).__name__}{': ' + text[0] if text else ''}"
    doing = f" {where}" if where else ""
    kept = _keep_traceback(error, output)
    hint = f"{REPORT}, which is in {kept}" if kept else f"{REPORT} that --debug shows"
    return Ending(ExitCode.INTERNAL, f"internal error{doing}: {what}", hint, error)


def _keep_traceback(error: BaseException, output: Path | None) -> Path | None:
    if output is None:
        return None
    path = output / "state" / "error.log"
    try:
        path.write_text("".join(traceback.format_exception(error)))
    except OSError:
        return None
    return path
