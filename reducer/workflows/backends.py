"""Which backends can be used here?"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from reducer.core.errors import NoEnvironment, ReducerError
from reducer.core.wire import Backends, BackendsJob, BackendStatus, Environment, Limits
from reducer.oracle.worker import Worker

#: Importing every backend takes seconds; one that hangs must not hang this.
_SECONDS = 300.0

OpenWorker = Callable[..., AbstractContextManager[Worker]]


def list_backends(
    python: str = sys.executable, *, open_worker: OpenWorker = Worker
) -> tuple[Environment, tuple[BackendStatus, ...]]:
    """The versions in use, and every listed backend: usable or not, and why.

    Raises NoEnvironment where torch or executorch is missing.
    """
    with tempfile.NamedTemporaryFile(prefix="reduce-backends-", suffix=".log", delete=False) as log:
        path = Path(log.name)
    with open_worker(path, python=python) as worker:
        try:
            result = worker.run(BackendsJob(), Limits(_SECONDS)).result
        except NoEnvironment as error:
            error.hint = error.hint or f"its output is in {path}"
            raise
        environment = worker.environment
    if not isinstance(result, Backends):
        raise ReducerError(
            f"backends could not be listed: {type(result).__name__}", hint=f"see {path}"
        )
    path.unlink()
    return environment, result.rows
