"""Which results of jobs are known already? A folder with a file for each.

What is there is not done again, so a stopped run goes on; and the folders of the shards of a run merge by
copying.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from reducer.core import text
from reducer.core.conform import misfit
from reducer.core.errors import BadInput
from reducer.core.files import write_atomic
from reducer.corpus.executor import Job, Task
from reducer.corpus.reading import Kept, Unreadable, read_file
from reducer.emit.record import FILE_NAME

Result = TypeVar("Result")


def known_first(
    jobs: Sequence[Job[Task]],
    folder: Path | None,
    key: Callable[[Job[Task]], object],
    kind: type[Result],
    run: Callable[[Sequence[Job[Task]]], Iterator[tuple[Job[Task], Result]]],
) -> Iterator[tuple[Job[Task], Result]]:
    """The results that the folder has, then those of the other jobs, written at once as ``run`` gives them.

    ``key`` is all that a result depends on; ``kind`` what a result is. Raises BadInput.
    """
    left = []
    for job in jobs:
        found = _read(_file(folder, key(job)), kind) if folder is not None else None
        if found is None:
            left.append(job)
        else:
            yield job, found
    for job, result in run(left) if left else ():
        if folder is not None:
            _write(_file(folder, key(job)), result)
        yield job, result


def content(found: Kept | Unreadable) -> tuple[str, ...]:
    """Digests of an entry's files."""
    if isinstance(found, Unreadable):
        return (found.reason,)
    names = sorted((FILE_NAME, *found.files))
    return tuple(hashlib.sha256(read_file(found.folder / name)).hexdigest() for name in names)


def _file(folder: Path, key: object) -> Path:
    return folder / f"{text.digest(key)[:32]}.json"


def _read(path: Path, kind: type[Result]) -> Result | None:
    """What the file holds; None if there is none, or it holds something else."""
    if not path.exists():
        return None
    try:
        found = text.loads(read_file(path))
    except (BadInput, ValueError, OSError):
        return None
    return found if isinstance(found, kind) and not misfit(found) else None


def _write(path: Path, result: object) -> None:
    try:
        write_atomic(path, text.dumps(result))
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error.strerror or error}") from error
