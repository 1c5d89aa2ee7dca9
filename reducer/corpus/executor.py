"""Who does a list of independent jobs: this task, on that interpreter?

One small interface, so that a batch system or a fleet of machines may do them as well; processes on this
machine are what there is. What a task is, the executor does not know: an entry to try again, a model to
lower.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from reducer.core.errors import BadInput
from reducer.oracle.interpreter import Interpreter

Item = TypeVar("Item")
Task = TypeVar("Task")
Result = TypeVar("Result")
Given_co = TypeVar("Given_co", covariant=True)

#: Seconds that a job which has begun may still take when all is over: enough for a worker to end.
_PATIENCE = 3.0


@dataclass(frozen=True)
class Job(Generic[Task]):
    """A task and the interpreter to do it on."""

    task: Task
    interpreter: Interpreter


class Executor(Protocol[Task, Given_co]):
    """Takes jobs, gives results as they come, and can be stopped at any time."""

    def submit(self, job: Job[Task]) -> None:
        """Take a job; it may begin at once."""

    def results(self) -> Iterator[tuple[Job[Task], Given_co]]:
        """The results of all jobs taken so far, in the order in which they come."""

    def stop(self) -> None:
        """Begin no further job."""


class LocalProcesses(Generic[Task, Result]):
    """So many jobs at a time, each kind of interpreter with warm workers of its own.

    ``open_runner`` opens what does tasks on an interpreter.
    """

    def __init__(
        self,
        open_runner: Callable[[Interpreter], AbstractContextManager[Callable[[Task], Result]]],
        at_once: int = 1,
    ) -> None:
        self._open = open_runner
        self._at_once = at_once
        self._jobs: queue.SimpleQueue[Job[Task] | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[tuple[Job[Task], Result] | BaseException] = (
            queue.SimpleQueue()
        )
        self._left = 0
        self._threads: list[threading.Thread] = []
        self._stopped = threading.Event()

    def submit(self, job: Job[Task]) -> None:
        """See :class:`Executor`."""
        self._left += 1
        self._jobs.put(job)
        if len(self._threads) < self._at_once:
            self._threads.append(threading.Thread(target=self._serve, daemon=True))
            self._threads[-1].start()

    def results(self) -> Iterator[tuple[Job[Task], Result]]:
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
        current: Interpreter | None = None
        opened: AbstractContextManager[Callable[[Task], Result]] | None = None
        try:
            while (job := self._jobs.get()) is not None and not self._stopped.is_set():
                if opened is None or job.interpreter != current:
                    if opened is not None:
                        opened.__exit__(None, None, None)
                    current, opened = job.interpreter, self._open(job.interpreter)
                    run = opened.__enter__()
                self._done.put((job, run(job.task)))
        except BaseException as error:  # whoever waits for the results is told
            self._done.put(error)
        finally:
            if opened is not None:
                opened.__exit__(None, None, None)


def executed(
    jobs: Sequence[Job[Task]], executor: Executor[Task, Result]
) -> Iterator[tuple[Job[Task], Result]]:
    """The results of jobs as they come; whoever stops listening stops the executor."""
    try:
        for job in jobs:
            executor.submit(job)
        yield from executor.results()
    finally:
        executor.stop()


def shard(items: Sequence[Item], text: str) -> list[Item]:
    """The part that ``i/n`` names: every n-th item, from the i-th on. Raises BadInput.

    >>> shard("abcdefg", "2/3")
    ['b', 'e']
    """
    number, _, count = text.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise BadInput(f"--shard {text!r} is no part of a whole", hint="for example 1/4")
    return list(items[int(number) - 1 :: int(count)])
