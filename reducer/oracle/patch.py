"""Does a unified diff fit an installed package, and what do its files say then?

The paths of a diff are those of a checkout (``a/exir/pass_base.py``, ``src/executorch/exir/...``) or of
an installation; what an installed package does not have, tests and C++, is left out and told. A hunk is
looked for where the diff says, then ever further from there, since a release is not where its main branch is;
its lines have to be there as they stand.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from unidiff.constants import DEV_NULL
from unidiff.errors import UnidiffParseError
from unidiff.patch import Hunk, PatchedFile, PatchSet

from reducer.core.errors import BadInput

#: Folders of a checkout that no installation needs.
_TESTS = {"test", "tests"}


@dataclass(frozen=True)
class Patched:
    """What a patch makes of a package.

    ``files`` are (path in the package, new content; None: removed); ``left_out`` paths of the patch that
    the installed package does not have.
    """

    files: tuple[tuple[str, str | None], ...]
    left_out: tuple[str, ...] = ()


def patched(diff: str, package: Path) -> Patched:
    """Apply a unified diff to the files of a package, in memory.

    Raises BadInput for what is no diff or does not fit, with the hunk and the file.
    """
    try:
        patch = PatchSet(diff)
    except UnidiffParseError as error:
        raise BadInput(
            f"the patch is no unified diff: {' '.join(str(error).split())[:200]}",
            hint="make one with git diff, or diff -u",
        ) from error
    if not patch:
        raise BadInput("the patch holds no unified diff", hint="make one with git diff, or diff -u")
    files: dict[str, str | None] = {}
    left_out = []
    for item in patch:
        found = dict(_changed(item, package, files))
        files.update(found)
        if not found:
            left_out.append(item.path)
    if not files:
        raise BadInput(
            f"the patch changes nothing of the installed package: {', '.join(left_out[:5])}",
            hint="its Python files are what a patch may change: nothing is compiled here",
        )
    return Patched(tuple(sorted(files.items())), tuple(left_out))


def _changed(
    item: PatchedFile, package: Path, before: dict[str, str | None]
) -> Iterator[tuple[str, str | None]]:
    """What one file of the patch changes; ``before`` is what the patch changed so far."""
    if item.is_binary_file:
        raise BadInput(f"{item.path}: a binary file cannot be patched", hint="leave it out")
    if item.source_file == DEV_NULL:
        yield _candidates(item.target_file)[0], _applied(item, item.path, "")
        return
    source = next((name for name in _candidates(item.source_file) if _has(package, name)), None)
    if source is None:
        path = PurePosixPath(_candidates(item.source_file)[0])
        if path.suffix == ".py" and _TESTS.isdisjoint(path.parts):
            raise BadInput(
                f"{path} is not in the installed package, {package}",
                hint="name files as in a checkout of executorch: exir/pass_base.py",
            )
        return
    content = before.get(source)
    if content is None:
        content = (package / source).read_bytes().decode("utf-8", "surrogateescape")
    if item.target_file == DEV_NULL:
        _applied(item, source, content)
        yield source, None
        return
    target = source
    if any(line.startswith("rename from ") for line in item.patch_info or ()):
        target = _candidates(item.target_file)[0]
        yield source, None
    yield target, _applied(item, source, content)


def _candidates(path: str) -> list[str]:
    """What a path may be called in the package: that of a checkout, or the end of one.

    >>> _candidates("a/exir/pass_base.py")
    ['exir/pass_base.py']
    >>> _candidates("/venv/site-packages/executorch/exir/pass_base.py")
    ['exir/pass_base.py', 'venv/site-packages/executorch/exir/pass_base.py']
    """
    parts = [part for part in PurePosixPath(path.strip('"')).parts if part != "/"]
    if ".." in parts or not parts:
        raise BadInput(f"{path} in the patch leaves the package", hint="name files from its top")
    if parts[0] in ("a", "b") and len(parts) > 1:
        parts = parts[1:]
    ends = [place for place, part in enumerate(parts[:-1], 1) if part == "executorch"]
    return ["/".join(parts[place:]) for place in [*reversed(ends), 0]]


def _has(package: Path, name: str) -> bool:
    return (package / name).is_file()


def _applied(item: PatchedFile, name: str, content: str) -> str:
    """The content with all hunks applied. Raises BadInput."""
    lines = list(io.StringIO(content))
    result: list[str] = []
    done = shift = 0
    for number, hunk in enumerate(item, 1):
        old = [_bare(line.value) for line in hunk.source_lines()]
        expected = hunk.source_start - (1 if old else 0)
        at = _find(lines, old, expected + shift, done)
        if at is None:
            raise BadInput(
                f"hunk {number} of {len(item)} does not fit {name}: its lines are not there"
                f" (@@ -{hunk.source_start},{hunk.source_length} @@)",
                hint=_hint(hunk, lines, expected),
            )
        result += lines[done:at]
        result += _new(hunk, lines[at : at + len(old)])
        done, shift = at + len(old), at - expected
    return "".join([*result, *lines[done:]])


def _find(lines: Sequence[str], wanted: Sequence[str], expected: int, first: int) -> int | None:
    """Where these lines are, as near as can be to where they are expected, from ``first`` on."""
    bare = [_bare(line) for line in lines]
    last = len(bare) - len(wanted)
    places = sorted(range(first, last + 1), key=lambda place: abs(place - expected))
    return next(
        (place for place in places if bare[place : place + len(wanted)] == list(wanted)), None
    )


def _new(hunk: Hunk, there: Sequence[str]) -> Iterator[str]:
    """The lines that a hunk leaves: those which it keeps are the file's own."""
    own = iter(there)
    following = [*list(hunk)[1:], None]
    for line, after in zip(hunk, following, strict=True):
        if line.is_context:
            yield next(own)
        elif line.is_removed:
            next(own)
        elif line.is_added:
            last = after is not None and not (
                after.is_context or after.is_added or after.is_removed
            )
            yield _bare(line.value) if last and after and after.value.strip() else line.value


def _hint(hunk: Hunk, lines: Sequence[str], expected: int) -> str:
    new = [_bare(line.value) for line in hunk.target_lines()]
    if _find(lines, new, expected, 0) is not None:
        return "the installed package has this change already"
    return "make the patch against the installed release; git diff and diff -u give the form"


def _bare(line: str) -> str:
    return line.rstrip("\r\n")
