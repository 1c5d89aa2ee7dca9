"""Who does a list of independent jobs: this entry, on that interpreter?

One small interface, so that a batch system or a fleet of machines may do them as well; processes on this
machine are what there is.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, TypeVar

from reducer.core.errors import BadInput
from reducer.corpus.outcome import Replayed
from reducer.corpus.reading import Kept, Unreadable

Item = TypeVar("Item")

#: Seconds that a job which has begun may still take when all is over: enough for a worker to end.
_PATIENCE = 3.0


@dataclass(frozen=True)
class Job:
    """An entry and the interpreter to try it on."""

    found: Kept | Unreadable
    python: str


class Executor(Protocol):
    """Takes jobs, gives results as they come, and can be stopped at any time."""

    def submit(self, job: Job) -> None:
        """Take a job; it may begin at once."""

    def results(self) -> Iterator[tuple[Job, Replayed]]:
        """The results of all jobs taken so far, in the order in which they come."""

    def stop(self) -> None:
        """Begin no further job."""


#: Opens what tries entries on an interpreter.
Open = Callable[[str], AbstractContextManager[Callable[[Kept | Unreadable], Replayed]]]


class LocalProcesses:
    """So many jobs at a time, each kind of interpreter with warm workers of its own."""

    def __init__(self, open_replayer: Open, at_once: int = 1) -> None:
        self._open = open_replayer
        self._at_once = at_once
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[tuple[Job, Replayed] | BaseException] = queue.SimpleQueue()
        self._left = 0
        self._threads: list[threading.Thread] = []
        self._stopped = threading.Event()

    def submit(self, job: Job) -> None:
        """See :class:`Executor`."""
        self._left += 1
        self._jobs.put(job)
        if len(self._threads) < self._at_once:
            self._threads.append(threading.Thread(target=self._serve, daemon=True))
            self._threads[-1].start()

    def results(self) -> Iterator[tuple[Job, Replayed]]:
        """See :class:`Executor`. Raises what a job raised, e.g. NoEnvironment."""
        while self._left and not self._stopped.is_set():
            found = self._done.get()
            if isinstance(found, BaseException):
                raise found
            self._left -= 1
            yield found

    def stop(self) -> None:
        """See :class:`Executor`; jobs that have begun end with this process, if not before."""
        self._stopped.set()
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join(_PATIENCE)

    def _serve(self) -> None:
        """One thread: jobs until there are no more, sorted by interpreter as they were submitted."""
        python = ""
        opened: AbstractContextManager[Callable[[Kept | Unreadable], Replayed]] | None = None
        try:
            while (job := self._jobs.get()) is not None and not self._stopped.is_set():
                if opened is None or job.python != python:
                    if opened is not None:
                        opened.__exit__(None, None, None)
                    python, opened = job.python, self._open(job.python)
                    replay = opened.__enter__()
                self._done.put((job, replay(job.found)))
        except BaseException as error:  # whoever waits for the results is told
            self._done.put(error)
        finally:
            if opened is not None:
                opened.__exit__(None, None, None)


def shard(items: Sequence[Item], text: str) -> list[Item]:
    """The part that ``i/n`` names: every n-th item, from the i-th on. Raises BadInput.

    >>> shard("abcdefg", "2/3")
    ['b', 'e']
    """
    number, _, count = text.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise BadInput(f"--shard {text!r} is no part of a whole", hint="for example 1/4")
    return list(items[int(number) - 1 :: int(count)])
