"""In which way does it fail? What happened to the process that lowered, loaded or ran the program."""

from __future__ import annotations

from enum import Enum


class Kind(str, Enum):
    """How one attempt ended, if not well."""

    RAISES = "raises"
    WRONG = "wrong numbers"
    DIES = "dies"
    """By a signal, or by ending itself."""
    MEMORY = "memory"
    """It used more than it was allowed."""
    HANGS = "hangs"
    PROPERTY = "property"
    """It lowers, and what comes of it has a property that it should not have."""

    def __str__(self) -> str:
        return self.value

    @property
    def ends_process(self) -> bool:
        """Whether nothing is left of the process that could tell."""
        return self in (Kind.DIES, Kind.MEMORY, Kind.HANGS)
