"""What can a job say instead of an answer?"""

from __future__ import annotations


class SubjectError(Exception):
    """What the user handed in cannot be used: ``message`` says why, ``hint`` what to do."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def headline(error: BaseException) -> str:
    """``Type: first line of the message``, for a message of our own."""
    text = str(error).strip()
    return f"{type(error).__name__}: {text.splitlines()[0] if text else 'no message'}"
