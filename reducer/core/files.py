"""How is a file written so that a crash at any moment leaves the old one or the new one, by one at a time?"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path


def write_atomic(path: Path, content: str | bytes) -> None:
    """Replace ``path`` with ``content`` (text as UTF-8) in one step. Raises OSError.

    The folder is made if it does not exist. A reader sees the old content or the new, never a part.
    """
    data = content.encode() if isinstance(content, str) else content
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock on a file, made if it does not exist; the system lets it go with the process.

    Raises BlockingIOError if somebody else holds it. Without effect where there are no such locks.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


def _umask() -> int:
    """Permissions that the process withholds; mkstemp withholds more than that."""
    current = os.umask(0o077)
    os.umask(current)
    return current


def modules_folder(data: Path) -> Path:
    """Within the folder of a case's tensors: the sources of the user's modules that it may need."""
    return data / "modules"
