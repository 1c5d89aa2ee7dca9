"""Can this folder be taken for an entry? Nothing in a corpus is trusted: anyone may have written it.

No symbolic link is followed, nothing but plain files of a bounded size is opened, and what a record
says is compared with what it has to be before any of it is used.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from reducer.core import text
from reducer.core.case import Graph, graph_references
from reducer.core.conform import misfit
from reducer.core.errors import BadInput
from reducer.corpus.entry import STATUSES, Entry, is_link
from reducer.emit.record import FILE_NAME

SCRIPT = "repro.py"

#: Bytes of a record, and of all files of an entry together.
_RECORD, LARGEST = 4 * 2**20, 64 * 2**20
#: Files of a folder, folders in each other, subgraphs in each other: real entries have a handful.
_FILES, _DEPTH, _EXPANDED = 64, 2, 1000

ID = re.compile(r"[0-9a-f]{16}")
BACKEND = re.compile(r"[A-Za-z0-9_]{1,100}")  # as well as a package
FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Kept:
    """An entry in its folder. ``files`` are those beside the record, by name; see :func:`read`."""

    folder: Path
    entry: Entry
    files: tuple[str, ...]

    @property
    def name(self) -> str:
        """``backend/id``."""
        return _name(self.folder)


@dataclass(frozen=True)
class Unreadable:
    """What stands where an entry would be, and why it is none."""

    folder: Path
    reason: str

    @property
    def name(self) -> str:
        """``backend/id``, or whatever it is called."""
        return _name(self.folder)


def _name(folder: Path) -> str:
    """As text, which the names of files need not be."""
    return os.fsencode(f"{folder.parent.name}/{folder.name}").decode("utf-8", "replace")


def read(folder: Path) -> Kept | Unreadable:
    """The entry in a folder of a corpus, or why there is none. A file in a package is ``package/file``."""
    try:
        names = _files(folder)
        entry = read_record(folder / FILE_NAME)
        _check_place(folder, entry)
    except BadInput as error:
        return Unreadable(folder, error.message)
    except OSError as error:
        return Unreadable(folder, f"cannot be read: {error.strerror or error}")
    return Kept(folder, entry, tuple(name for name in names if name != FILE_NAME))


def read_record(path: Path) -> Entry:
    """The entry that a file holds. Raises BadInput, OSError."""
    try:
        found = text.loads(read_file(path, _RECORD))
    except ValueError as error:  # numbers with thousands of digits
        raise BadInput(f"not JSON: {error}") from error
    if not isinstance(found, Entry):
        raise BadInput(f"{path.name} does not hold an entry of a corpus")
    if wrong := misfit(found):
        raise BadInput(f"{wrong} holds what it cannot hold")
    try:
        json.dumps(text.encode(found), ensure_ascii=False).encode()
    except ValueError as error:  # halves of letters
        raise BadInput("it holds text that is no text") from error
    if found.status not in STATUSES:
        raise BadInput("its status is unknown")
    if found.link and not is_link(found.link):
        raise BadInput("its link is none")
    if not all(map(_DIGEST.fullmatch, found.stored)):
        raise BadInput("it names tensors by something that is no digest")
    _check_nesting(dict(found.case.subgraphs), found.case.graph)
    return found


def read_file(path: Path, largest: int = LARGEST) -> bytes:
    """The content of a plain file. Raises BadInput for a link, a device, or one that is too large."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise BadInput(f"{path.name}: {error.strerror or error}") from error
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise BadInput(f"{path.name} is no plain file")
        content = file.read(largest + 1)
    if len(content) > largest:
        raise BadInput(f"{path.name} is larger than {largest / 2**20:.0f} MiB")
    return content


def _files(folder: Path) -> list[str]:
    """The folder's files, sorted, those of packages as ``package/file``.

    Raises BadInput if anything else is in it, or too much.
    """
    if folder.is_symlink() or not folder.is_dir():
        raise BadInput("it is no folder, or a symbolic link")
    sizes = dict(_sizes(folder, 0))
    if sum(sizes.values()) > LARGEST:
        raise BadInput(f"its files are larger than {LARGEST / 2**20:.0f} MiB together")
    for name in (FILE_NAME, SCRIPT):
        if name not in sizes:
            raise BadInput(f"it has no {name}")
    return sorted(sizes)


def _sizes(folder: Path, depth: int) -> Iterator[tuple[str, int]]:
    """Files and their bytes. Raises BadInput."""
    with os.scandir(folder) as found:
        for number, item in enumerate(found):
            if number == _FILES:
                raise BadInput(f"it has more than {_FILES} files in a folder")
            if item.is_dir(follow_symlinks=False) and BACKEND.fullmatch(item.name):
                if depth == _DEPTH:
                    raise BadInput("its packages are too deep")
                for name, size in _sizes(folder / item.name, depth + 1):
                    yield f"{item.name}/{name}", size
            elif item.is_file(follow_symlinks=False) and FILE.fullmatch(item.name):
                yield item.name, item.stat(follow_symlinks=False).st_size
            else:
                raise BadInput(f"{item.name!r} in it is no plain file with a plain name")


def _check_place(folder: Path, entry: Entry) -> None:
    if folder.parent.name != entry.backend:
        raise BadInput(f"it stands under another backend than its own, {entry.backend}")
    if not entry.comparable:
        return  # its id was made by other rules
    try:
        found = entry.id
    except Exception as error:  # code that trusts a case meets one that anyone may have written
        raise BadInput(f"its case is no program: {type(error).__name__}") from error
    if found != folder.name:
        raise BadInput(f"its content has the id {found}: it was edited")


def _check_nesting(graphs: dict[str, Graph], main: Graph) -> None:
    """Raise BadInput for subgraphs that hold themselves, or each other so often that none can count.

    They are numbered from the inside; what is asked of one is asked of all that are in it.
    """
    sizes: dict[str, int] = {}

    def size(graph: Graph, above: tuple[str, ...]) -> int:
        total = 1
        for node in graph.nodes:
            for name in graph_references(node.args):
                if name in above or name not in graphs or len(above) > 50:
                    raise BadInput("its subgraphs are no tree")
                if name not in sizes:
                    sizes[name] = size(graphs[name], (*above, name))
                total += sizes[name]
                if total > _EXPANDED:
                    raise BadInput("its subgraphs are too many")
        return total

    size(main, ())
