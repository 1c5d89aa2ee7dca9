"""What do tests of whole runs need? The workflow on the warm worker, with a folder of its own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

import pytest

from reducer.oracle.worker import Worker
from reducer.workflows.outcome import Outcome
from reducer.workflows.reduce import reduce_subject
from reducer.workflows.settings import ReduceSettings


@pytest.fixture
def reduce(warm_worker: Worker, tmp_path: Path) -> Callable[..., Outcome]:
    """Reduce a subject: a path, or the source of one."""

    @contextmanager
    def lent(*_: object, **__: object):
        yield warm_worker

    def run(subject: Path | str, **settings: object) -> Outcome:
        path = Path(subject)
        if "\n" in str(subject):
            path = tmp_path / "subject.py"
            path.write_text(str(subject))
        chosen = ReduceSettings(str(path), output=tmp_path / "out", **settings)  # type: ignore[arg-type]
        return reduce_subject(chosen, lambda _: None, open_worker=lent)

    return run
