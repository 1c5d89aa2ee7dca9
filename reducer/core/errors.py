"""Errors that a user can act on, and the exit code that each stands for."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Documented exit codes of the ``reduce`` command."""

    REDUCED = 0
    """Reduced, and the repro failed with the same signature in a clean process."""
    INTERNAL = 1
    """A bug in reducer itself; ``--debug`` shows the traceback."""
    BAD_INPUT = 2
    """The subject, the backend or an option cannot be used as given."""
    NO_FAILURE = 3
    """The subject lowers without failing."""
    NOT_REPRODUCIBLE = 4
    """A failure was seen, but not again: flaky, or lost outside the user's own process."""
    NOT_HANDLED = 5
    """The subject fails at a stage which this version does not reduce."""
    STOPPED = 6
    """``--max-calls`` or ``--budget`` ran out; the best case so far is kept."""
    NO_ENVIRONMENT = 7
    """torch or executorch is missing, or the two do not fit each other."""
    CHANGED = 8
    """An entry of a corpus does not do what it is recorded to do."""
    NOT_VERIFIED = 9
    """A fix breaks something, hides what it should fix, or does not fix it."""
    INTERRUPTED = 130
    """Ctrl-C or SIGTERM; the best case so far is kept."""


class ReducerError(Exception):
    """Anything that ends a command with a message instead of a traceback.

    ``message`` says what is wrong, ``hint`` what to do next.
    """

    exit_code: ExitCode = ExitCode.INTERNAL

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class BadInput(ReducerError):
    """The subject, the backend or an option cannot be used as given."""

    exit_code = ExitCode.BAD_INPUT


class NoFailure(ReducerError):
    """The subject lowers without failing; there is nothing to reduce."""

    exit_code = ExitCode.NO_FAILURE


class NotReproducible(ReducerError):
    """The failure was seen but could not be reproduced."""

    exit_code = ExitCode.NOT_REPRODUCIBLE


class NotHandled(ReducerError):
    """The failure is of a kind that this version does not reduce."""

    exit_code = ExitCode.NOT_HANDLED


class NoEnvironment(ReducerError):
    """No usable torch and executorch under the chosen interpreter."""

    exit_code = ExitCode.NO_ENVIRONMENT


class WorkerDied(ReducerError):
    """The worker's parent process itself ended; nothing can be judged any more."""
