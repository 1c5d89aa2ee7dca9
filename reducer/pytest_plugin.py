"""``pytest --reduce-corpus DIR``: every entry of a corpus is a test.

A known failure is a strict xfail: when it passes, the run fails and says "fixed: promote". An entry that
was promoted has to pass. Nothing in the corpus is collected by pytest itself: no conftest.py and no
test file of an entry is ever imported here; what an entry runs, runs in a sandbox.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from reducer.corpus.outcome import Replayed
    from reducer.corpus.reading import Kept, Unreadable
    from reducer.corpus.replay import Replayer

_REPLAYER = pytest.StashKey["Replayer"]()
_STACK = pytest.StashKey[ExitStack]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options."""
    group = parser.getgroup("reduce", "corpus of lowering failures")
    group.addoption(
        "--reduce-corpus",
        metavar="DIR",
        type=Path,
        help="test every entry of this corpus; alone if no other path is given",
    )
    group.addoption(
        "--reduce-python",
        metavar="PATH",
        default=sys.executable,
        help="interpreter with the torch and executorch to test. Default: this one",
    )
    group.addoption(
        "--reduce-timeout",
        metavar="SECONDS",
        type=float,
        default=120.0,
        help="longest time for one lowering. Default: 120",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Without another path the corpus is all that is tested."""
    root = config.getoption("--reduce-corpus")
    if root is None:
        return
    if not root.is_dir():
        raise pytest.UsageError(f"--reduce-corpus: {root} is no folder")
    config.stash[_STACK] = ExitStack()
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        config.args[:] = [config.stash[_STACK].enter_context(_empty_folder())]


def pytest_report_header(config: pytest.Config) -> str | None:
    """What the entries could reach, if anything."""
    if config.getoption("--reduce-corpus") is None:
        return None
    from reducer.oracle import sandbox

    return f"reduce: {said}" if (said := sandbox.warning()) else None


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the worker."""
    if _STACK in config.stash:
        config.stash[_STACK].close()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Keep pytest out of the corpus."""
    root = config.getoption("--reduce-corpus")
    if root is None:
        return None
    return True if root.resolve() in (collection_path, *collection_path.parents) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add a test for each entry."""
    root = config.getoption("--reduce-corpus")
    if root is not None:
        entries = Entries.from_parent(session, name=root.name, path=root, nodeid=root.name)
        items.extend(session.genitems(entries))


class Entries(pytest.Collector):
    """A corpus."""

    def collect(self) -> Iterator[pytest.Item]:
        """A test for each entry, and one for each thing that cannot be read as one."""
        from reducer.corpus.store import Corpus

        for found in Corpus(self.path).read():
            yield EntryTest.from_parent(self, name=found.name, found=found)


class StillFails(Exception):
    """The failure of record."""


class EntryTest(pytest.Item):
    """One entry."""

    def __init__(self, *, found: Kept | Unreadable, **keywords: Any) -> None:
        super().__init__(**keywords)
        self.found = found

    def runtest(self) -> None:
        """Try it again, and pass, fail, xfail or skip by what became of it."""
        from reducer.corpus.entry import MUST_PASS
        from reducer.corpus.outcome import Outcome

        replayed = self._replayer()(self.found)
        if replayed.outcome is Outcome.CANNOT_RUN:
            pytest.skip(f"cannot run here: {replayed.detail}")
        known = replayed.status != MUST_PASS
        if known and replayed.outcome in (Outcome.FAILS, Outcome.FIXED):
            # Strict, and with a reason that says what to do: pytest looks at it after the test.
            reason = replayed.advice or f"known failure: {replayed.recorded}"
            self.add_marker(pytest.mark.xfail(reason=reason, raises=StillFails, strict=True))
        if replayed.outcome is Outcome.FAILS:
            raise StillFails(replayed.recorded)
        if not (known or replayed.as_recorded) or replayed.outcome is not Outcome.FIXED:
            pytest.fail(_told(replayed), pytrace=False)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """An entry that fails again needs no traceback of ours."""
        if isinstance(excinfo.value, StillFails):
            return f"fails again: {excinfo.value}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Where it is."""
        return self.found.folder, None, self.name

    def _replayer(self) -> Replayer:
        """The warm worker of this session; started for the first entry that needs it."""
        stash = self.config.stash
        if _REPLAYER not in stash:
            from reducer.corpus.replay import Replayer
            from reducer.oracle.interpreter import Interpreter

            interpreter = Interpreter(self.config.getoption("--reduce-python"))
            replayer = Replayer(interpreter, self.config.getoption("--reduce-timeout"))
            stash[_REPLAYER] = stash[_STACK].enter_context(replayer)
        return stash[_REPLAYER]


def _told(replayed: Replayed) -> str:
    recorded = f"\nrecorded: {replayed.recorded}" if replayed.recorded else ""
    return f"{replayed.name}: {replayed.word}: {replayed.detail}{recorded}"


def _empty_folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="reduce-nothing-")
