"""Which folder does a run write to, and what is in it?

::

    reduced/<name>/
      repro.py        the best case so far, as a script; confirmed at the end
      finding.json    case, signature, versions, counts, certificate
      others/         other failures met on the way, a script and a record each
      work/           verdict store, tensors, log: may be deleted when the run is over
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from reducer.core.errors import BadInput
from reducer.core.files import write_atomic
from reducer.workflows.settings import ReduceSettings


@dataclass(frozen=True)
class OutputFolder:
    """Paths within the output folder of one run."""

    root: Path

    @property
    def repro(self) -> Path:
        """The script."""
        return self.root / "repro.py"

    @property
    def finding(self) -> Path:
        """The record."""
        return self.root / "finding.json"

    @property
    def others(self) -> Path:
        """Other failures."""
        return self.root / "others"

    @property
    def store(self) -> Path:
        """Verdicts."""
        return self.root / "work" / "verdicts.sqlite"

    @property
    def data(self) -> Path:
        """Tensors by digest."""
        return self.root / "work" / "data"

    @property
    def log(self) -> Path:
        """What torch and executorch printed."""
        return self.root / "work" / "worker.log"


def open_output(settings: ReduceSettings) -> OutputFolder:
    """The folder for this run, made and writable. Raises BadInput.

    Without ``-o`` it is ``reduced/<name>``; if that belongs to another subject or backend, a longer
    name, so that nothing is overwritten.
    """
    belongs = {"subject": _resolved(settings.subject), "backend": settings.backend or ""}
    belongs["options"] = repr(settings.options)
    if settings.oracle:
        belongs["oracle"] = settings.oracle
    candidates = [settings.output] if settings.output else _names(settings)
    for root in candidates:
        assert root is not None
        folder, marker = OutputFolder(root), root / "work" / "run.json"
        if settings.output is None and marker.exists() and _read(marker) != belongs:
            continue
        try:
            write_atomic(marker, json.dumps(belongs, indent=1))
            folder.data.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(
                f"cannot write to {root}: {error.strerror or error}",
                hint="choose another output folder with -o",
            ) from error
        return folder
    raise BadInput("no free folder name under reduced/", hint="choose one with -o")


def subject_name(subject: str) -> str:
    """A short name for files: the stem of a path, the attribute of ``module:attribute``."""
    last = Path(subject).stem if "/" in subject or Path(subject).suffix else subject
    return re.sub(r"\W+", "_", last.rpartition(":")[2] or last).strip("_") or "subject"


def _names(settings: ReduceSettings) -> list[Path]:
    name = subject_name(settings.subject)
    backend = re.sub(r"\W+", "_", settings.backend or "as_written")
    longer = [f"{name}-{backend}", *(f"{name}-{backend}-{number}" for number in range(2, 100))]
    return [Path("reduced") / text for text in (name, *longer)]


def _resolved(subject: str) -> str:
    return str(Path(subject).resolve()) if Path(subject).exists() else subject


def _read(marker: Path) -> object:
    try:
        return json.loads(marker.read_text())
    except (OSError, ValueError):
        return None
