"""Which folder does a run write to, and what is in it?

::

    reduced/<name>/
      repro.py        the best case so far, as a script; confirmed at the end
      repro_pass.py   the same with one compiler pass on a graph made by hand, if that shows it
      test_repro.py   a test that passes once it is mended
      finding.json    case, signature, versions, counts, certificate
      report.md       the same for people: a bug report
      others/         other failures met on the way, a script and a record each
      2/, 3/, ...     further failures of the model, if they were asked for: all of the above
      state/           verdict store, tensors, log: may be deleted when the run is over
        earlier-<n>/  results of a run on the subject as it was before it was edited
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from reducer.core.errors import BadInput
from reducer.core.files import locked, write_atomic
from reducer.core.text import digest
from reducer.workflows.settings import ReduceSettings


@dataclass(frozen=True)
class OutputFolder:
    """Paths within the output folder of one run. ``made``: the outermost folder made for it.

    ``whole`` is the folder of the run, if this is that of a further failure of the same model: they share
    what is in ``state/``.
    """

    root: Path
    made: Path | None = None
    whole: OutputFolder | None = None

    def part(self, number: int) -> OutputFolder:
        """The folder of a further failure. Raises OSError."""
        folder = self.root / str(number)
        folder.mkdir(exist_ok=True)
        return OutputFolder(folder, whole=self)

    @property
    def state(self) -> Path:
        """What the run needs, and nobody else."""
        return self.whole.state if self.whole else self.root / "state"

    @property
    def repro(self) -> Path:
        """The script."""
        return self.root / "repro.py"

    @property
    def pass_repro(self) -> Path:
        """The script that runs one pass."""
        return self.root / "repro_pass.py"

    @property
    def test(self) -> Path:
        """The regression test."""
        return self.root / "test_repro.py"

    @property
    def finding(self) -> Path:
        """The record."""
        return self.root / "finding.json"

    @property
    def report(self) -> Path:
        """The bug report."""
        return self.root / "report.md"

    @property
    def others(self) -> Path:
        """Other failures."""
        return self.root / "others"

    @property
    def marker(self) -> Path:
        """Whose results these are."""
        return self.state / "run.json"

    @property
    def store(self) -> Path:
        """Verdicts."""
        return self.state / "verdicts.sqlite"

    @property
    def data(self) -> Path:
        """Tensors by digest."""
        return self.state / "data"

    @property
    def log(self) -> Path:
        """What torch and executorch printed."""
        return self.state / "worker.log"

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Keep other runs out. Raises BadInput if one is in it."""
        with ExitStack() as stack:
            try:
                stack.enter_context(locked(self.state / "lock"))
            except BlockingIOError:
                raise BadInput(
                    f"another run is writing to {self.root}",
                    hint="wait for its end, or choose another output folder with -o",
                ) from None
            yield

    def set_aside(self) -> Path | None:
        """Move results out of the way; returns where to, None if there are none. Raises OSError."""
        scripts = (self.repro, self.pass_repro)
        data = [path.with_suffix(".safetensors") for path in scripts]
        further = (path for path in self.root.iterdir() if path.name.isdigit())
        written = (*scripts, *data, self.test, self.finding, self.report, self.others, *further)
        results = [path for path in written if path.exists()]
        if not results:
            return None
        number = 1
        while (earlier := self.state / f"earlier-{number}").exists():
            number += 1
        earlier.mkdir(parents=True)
        for path in results:
            path.rename(earlier / path.name)
        return earlier

    def remove_unused(self) -> None:
        """Remove what was made for a run that has nothing to show."""
        if self.made is None or [path.name for path in self.root.iterdir()] != ["state"]:
            return
        shutil.rmtree(self.root / "state", ignore_errors=True)
        for folder in (self.root, *self.root.parents):
            with suppress(OSError):  # something else is in it
                folder.rmdir()
            if folder == self.made:
                return


def open_output(settings: ReduceSettings) -> OutputFolder:
    """The folder for this run, made and writable. Raises BadInput."""
    name = subject_name(settings.subject)
    root = settings.output or default_output(name, settings.backend, lambda _: settings)
    refuse_foreign(root, settings)
    folder = OutputFolder(root, _outermost_missing(root))
    try:
        write_atomic(folder.marker, json.dumps(_belongs(settings), indent=1))
        folder.data.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(
            f"cannot write to {root}: {error.strerror or error}",
            hint="choose another output folder with -o",
        ) from error
    return folder


def default_output(
    name: str, backend: str | None, settings_in: Callable[[Path], ReduceSettings]
) -> Path:
    """``reduced/<name>``; if that belongs to another subject or backend, a longer name.

    ``settings_in`` are those of a run in that folder. Raises BadInput.
    """
    for root in _names(name, backend):
        if _owner(root) in (None, _belongs(settings_in(root))):
            return root
    raise BadInput("no free folder name under reduced/", hint="choose one with -o")


def refuse_foreign(root: Path, settings: ReduceSettings) -> None:
    """Raises BadInput if the folder holds results of another run, so that nothing is overwritten."""
    owner, belongs = _owner(root), _belongs(settings)
    if owner is None or owner == belongs:
        return
    whose = [f"{key} {owner[key]}" for key in owner if owner[key] != belongs.get(key)]
    whose += [f"no {key}" for key in belongs if key not in owner]
    raise BadInput(
        f"{root} holds the results of another run, which was of {owner.get('subject')}"
        f" ({', '.join(whose)})",
        hint="choose another output folder with -o, or delete that one",
    )


def subject_name(subject: str) -> str:
    """A short name for files: the stem of a path, the attribute of ``module:attribute``."""
    last = Path(subject).stem if "/" in subject or Path(subject).suffix else subject
    return re.sub(r"\W+", "_", last.rpartition(":")[2] or last).strip("_") or "subject"


def _names(name: str, backend: str | None) -> list[Path]:
    backend = re.sub(r"\W+", "_", backend or "as_written")
    longer = f"{name}-{backend}"
    names = (name, longer, *(f"{longer}-{number}" for number in range(2, 100)))
    return [Path("reduced") / text for text in names]


def _resolved(subject: str) -> str:
    return str(Path(subject).resolve()) if Path(subject).exists() else subject


def _belongs(settings: ReduceSettings) -> dict[str, str]:
    """What tells the runs of a folder from others."""
    belongs = {"subject": _resolved(settings.subject), "backend": settings.backend or ""}
    belongs["options"] = repr(settings.options)
    if settings.oracle:
        belongs["oracle"] = settings.oracle
    if settings.asked is not None:
        belongs["oracle"] = digest(settings.asked)
    return belongs


def _owner(root: Path) -> dict[str, str] | None:
    """What is noted in a folder about its run; None if nothing is."""
    try:
        noted = json.loads(OutputFolder(root).marker.read_text())
    except (OSError, ValueError):
        return None
    return noted if isinstance(noted, dict) else None


def _outermost_missing(root: Path) -> Path | None:
    missing = [folder for folder in (root, *root.parents) if not folder.exists()]
    return missing[-1] if missing else None
