"""What do tests of the worker's side need? A way to hand in a file, as the worker does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from reducer.core.wire import Capture, CaptureJob


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Write ``source`` to a file in a folder of the test's own, which is the current one."""
    monkeypatch.chdir(tmp_path)

    def write_file(source: str, name: str = "subject.py") -> str:
        (tmp_path / name).write_text(dedent(source))
        return str(tmp_path / name)

    return write_file


@pytest.fixture
def capture(tmp_path: Path) -> Callable[..., Capture]:
    """Capture a subject in this process; torch is imported only by tests that ask for this."""
    from reducer.lowering.capture import capture as run

    def run_capture(
        subject: str, backend: str | None = None, argv: tuple[str, ...] = (), **options: Any
    ) -> Capture:
        data = str(tmp_path / "data")
        return run(CaptureJob(subject, data, backend, tuple(options.items()), argv))

    return run_capture
