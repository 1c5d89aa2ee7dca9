"""What does a job give, asked of the worker only once?"""

from __future__ import annotations

from reducer.core.wire import Job, Limits, Result
from reducer.oracle.store import Store, store_key
from reducer.oracle.worker import Worker


def remembered(
    worker: Worker,
    store: Store,
    key: tuple[str, str],
    job: Job,
    limits: Limits,
    kept: type = object,
) -> Result:
    """The stored result under ``key`` (kind, content) if it is a ``kept`` one; else the worker's.

    That is stored if it is one. Raises WorkerDied.
    """
    place = store_key(*key, worker.environment)
    known = store.get(place)
    if known is not None and isinstance(known[0], kept):
        return known[0]
    answer = worker.run(job, limits)
    if isinstance(answer.result, kept):
        store.put(place, answer.result, answer.seconds)
    return answer.result
