"""Which calls have been paid for already? Attempts by canonical case, on disk at once.

A sqlite database in the output folder: a killed run resumes from it and pays for nothing twice. What
is stored is what happened, not the verdict: that follows from it and the matching rule, so asking
with another rule costs nothing.
"""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

from reducer.core import text
from reducer.core.errors import BadInput
from reducer.core.signature import SIGNATURE_VERSION
from reducer.core.wire import Capture, Environment, Result

#: Part of every key: a store written under other rules is not read.
STORE_VERSION = 2


class Store:
    """Results by key. Raises BadInput where the folder cannot be written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connect()
        except (sqlite3.Error, OSError) as error:
            raise _unwritable(path, error) from error

    def _connect(self) -> None:
        self._database = sqlite3.connect(self.path, isolation_level=None)
        try:
            self._create()
        except sqlite3.DatabaseError as error:
            if "not a database" not in str(error) and "malformed" not in str(error):
                raise
            # A damaged store costs its calls, not the run.
            self._database.close()
            self.path.unlink()
            self._database = sqlite3.connect(self.path, isolation_level=None)
            self._create()

    def _create(self) -> None:
        self._database.execute("PRAGMA journal_mode=WAL")
        self._database.execute("PRAGMA synchronous=NORMAL")
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS result"
            " (key TEXT PRIMARY KEY, value TEXT, seconds REAL, times INTEGER DEFAULT 1)"
        )
        if self._database.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise sqlite3.DatabaseError("malformed")

    def close(self) -> None:
        """Close the database."""
        with contextlib.suppress(sqlite3.Error):
            self._database.close()

    def __len__(self) -> int:
        return int(self._database.execute("SELECT COUNT(*) FROM result").fetchone()[0])

    @property
    def most_paid(self) -> int:
        """How often the result that was paid for most often was paid for."""
        return int(
            self._database.execute("SELECT COALESCE(MAX(times), 0) FROM result").fetchone()[0]
        )

    def get(self, key: str) -> tuple[Result | Capture, float] | None:
        """The stored result and the seconds that it cost, or None."""
        row = self._database.execute(
            "SELECT value, seconds FROM result WHERE key = ?", (key,)
        ).fetchone()
        return None if row is None else (text.loads(row[0]), float(row[1]))

    def put(self, key: str, result: Result | Capture, seconds: float) -> None:
        """Store a result; it is on disk when this returns."""
        try:
            self._database.execute(
                "INSERT INTO result (key, value, seconds) VALUES (?, ?, ?) ON CONFLICT (key) DO"
                " UPDATE SET value = excluded.value, seconds = excluded.seconds, times = times + 1",
                (key, text.dumps(result), seconds),
            )
        except sqlite3.Error as error:
            raise _unwritable(self.path, error) from error


def store_key(kind: str, content: str, environment: Environment) -> str:
    """Key of a result: what was run, on which versions, under which rules."""
    versions = (environment.python, environment.torch, environment.executorch, environment.platform)
    return text.digest((kind, content, versions, STORE_VERSION, SIGNATURE_VERSION))


def _unwritable(path: Path, error: Exception) -> BadInput:
    return BadInput(
        f"cannot write to {path.parent}: {error}",
        hint="choose another output folder with -o, or make room on the disk",
    )
