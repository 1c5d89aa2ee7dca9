"""How is a corpus kept on disk, so that no kill at any moment leaves half an entry?

::

    corpus/<backend>/<id>/
      finding.json     the entry
      repro.py, ...    every file of the finding that belongs to the bug

An entry appears, changes and goes by the renaming of a whole folder. What a killed process leaves are
hidden folders beside the backends; the next one to write sets them right. Writers lock the corpus.

Of two findings of one bug the files of one are kept: those of the one with more files, then of the
smaller one, then by content. So whoever adds the same findings, in whatever order, gets the same tree.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from reducer.core.errors import BadInput
from reducer.core.files import write_atomic
from reducer.corpus.entry import Entry, joined
from reducer.corpus.reading import BACKEND, ID, Kept, Unreadable, read, read_file
from reducer.emit.record import FILE_NAME, record_text

#: How the hidden folders begin: being made, being replaced, being removed.
_NEW, _OLD, _GONE = ".new-", ".old-", ".gone-"


class Corpus:
    """A folder of entries. Methods that write raise BadInput where it cannot be written."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def read(self) -> list[Kept | Unreadable]:
        """All that stands where an entry would be, by backend and id. Raises BadInput."""
        if not self.root.is_dir():
            raise BadInput(f"{self.root} is no folder", hint="name the folder of a corpus")
        if any(self.root.glob(f"{_OLD}*")):
            with suppress(BadInput), self._writing():
                pass  # a killed process had taken an entry out of its place
        with self._locked(fcntl.LOCK_SH):
            return [read(folder) for folder in self._folders()]

    def entries(self) -> list[Kept]:
        """The entries among these."""
        return [found for found in self.read() if isinstance(found, Kept)]

    def find(self, names: Iterator[str] | list[str]) -> list[Kept]:
        """The entries with these ids, or beginnings of ids, with or without their backend.

        Raises BadInput for a name of none, or of several.
        """
        known = self.entries()
        return [_only(name, known) for name in names]

    def add(self, entry: Entry, files: Mapping[str, bytes]) -> tuple[Kept, bool]:
        """Add an entry with its files, or join it to what is there; and whether it is a new one."""
        with self._writing():
            place = self.root / entry.backend / entry.id
            known = read(place) if place.exists() else None
            content = dict(files)
            if isinstance(known, Kept):
                there = {name: read_file(place / name) for name in known.files}
                if _rank(known.entry, there) <= _rank(entry, content):
                    entry, content = joined(known.entry, entry), there
                else:
                    entry = joined(entry, known.entry)
            self._put(place, entry, content)
        return Kept(place, entry, tuple(sorted(content))), known is None

    def update(self, kept: Kept, entry: Entry) -> Kept:
        """Replace the record of an entry, whose files stay as they are."""
        with self._writing():
            content = {name: read_file(kept.folder / name) for name in kept.files}
            self._put(kept.folder, entry, content)
        return replace(kept, entry=entry)

    def remove(self, folders: list[Path]) -> None:
        """Remove entries, or what stands in their place."""
        with self._writing():
            for folder in folders:
                gone = Path(tempfile.mkdtemp(dir=self.root, prefix=_GONE))
                folder.rename(gone / folder.name)
                _delete(gone)

    def _folders(self) -> Iterator[Path]:
        for backend in sorted(self.root.iterdir()):
            if not _stands(backend):
                continue
            if backend.is_symlink() or not BACKEND.fullmatch(backend.name):
                yield backend  # nothing in it is looked at
            else:
                yield from sorted(filter(_stands, backend.iterdir()))

    def _put(self, place: Path, entry: Entry, files: Mapping[str, bytes]) -> None:
        if place.parent.is_symlink():
            raise BadInput(
                f"{place.parent} is a symbolic link", hint="entries stay in their corpus"
            )
        place.parent.mkdir(exist_ok=True)
        new = Path(tempfile.mkdtemp(dir=self.root, prefix=_NEW)) / place.name
        for name, content in files.items():
            write_atomic(new / name, content)
        write_atomic(new / FILE_NAME, record_text(entry))
        if os.path.lexists(place):
            old = self.root / f"{_OLD}{place.parent.name}-{place.name}"
            place.rename(old)
            new.rename(place)
            _delete(old)
        else:
            new.rename(place)
        new.parent.rmdir()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """The only writer, after what a killed one left was set right."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            with self._locked(fcntl.LOCK_EX):
                self._recover()
                yield
        except OSError as error:
            raise _unwritable(self.root, error) from error

    @contextmanager
    def _locked(self, how: int) -> Iterator[None]:
        handle = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(handle, how)
            yield
        finally:
            os.close(handle)

    def _recover(self) -> None:
        for old in self.root.glob(f"{_OLD}*"):
            backend, _, name = old.name.removeprefix(_OLD).rpartition("-")
            place = self.root / backend / name
            if BACKEND.fullmatch(backend) and ID.fullmatch(name) and not place.exists():
                old.rename(place)
            else:
                _delete(old)
        for left in (*self.root.glob(f"{_NEW}*"), *self.root.glob(f"{_GONE}*")):
            _delete(left)


def _delete(path: Path) -> None:
    """Remove a folder with all that is in it, or a link without what it leads to."""
    if path.is_symlink() or not path.is_dir():
        path.unlink()
    else:
        shutil.rmtree(path)


def _stands(path: Path) -> bool:
    """Whether it stands where an entry or a backend would: no README, nothing hidden."""
    return not path.name.startswith(".") and (path.is_symlink() or not path.is_file())


def _only(name: str, known: list[Kept]) -> Kept:
    found = [
        kept for kept in known if kept.name.startswith(name) or kept.folder.name.startswith(name)
    ]
    if len(found) == 1 and name:
        return found[0]
    several = ", ".join(kept.name for kept in found[:5])
    raise BadInput(
        f"{len(found)} entries are called {name!r}" if found else f"no entry is called {name!r}",
        hint=f"{several}: give more of the id" if found else "`reduce corpus list` shows all",
    )


def _rank(entry: Entry, files: Mapping[str, bytes]) -> tuple[int, int, str]:
    """Smaller is what is kept. Of the entry only what stays with its files counts."""
    told = replace(entry, failing=(), passing=(), status="", link="")
    digests = [
        (name, hashlib.sha256(content).hexdigest()) for name, content in sorted(files.items())
    ]
    size = sum(map(len, files.values()))
    return (
        -len(files),
        size,
        hashlib.sha256(repr((record_text(told), digests)).encode()).hexdigest(),
    )


def _unwritable(root: Path, error: OSError) -> BadInput:
    return BadInput(
        f"cannot write to {root}: {error.strerror or error}", hint="make room, or see whose it is"
    )
