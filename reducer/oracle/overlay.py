"""What would an installed ExecuTorch be with a change? A folder that goes in front of it.

The folder has a package ``executorch`` in which all but the changed files are links to the installed one: so
native libraries and data are found beside the code, and nothing of the installation is written.
"""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from reducer.core.errors import BadInput, NoEnvironment
from reducer.oracle.patch import patched

PACKAGE = "executorch"

_ASK = f"""
from importlib.util import find_spec
spec = find_spec({PACKAGE!r})
print(*(spec.submodule_search_locations or () if spec else ()), sep=chr(10))
"""
_VERSIONS = f"""
import platform
from importlib.metadata import version
print(platform.python_version(), *(f"{{name}} {{version(name)}}" for name in ({PACKAGE!r}, "torch")))
"""
#: What stands in the place of a removed module; a package may be found further down the path.
_REMOVED = "raise ModuleNotFoundError('removed by the patch', name=__name__)\n"


@dataclass(frozen=True)
class Overlay:
    """``folder`` goes in front of an interpreter's path; ``files`` of the package are changed.

    ``left_out`` are paths of the patch that the installed package does not have; ``digest`` is made from
    the changes.
    """

    folder: Path
    files: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    digest: str = ""


def from_patch(diff: Path, python: str, folder: Path) -> Overlay:
    """The overlay for a unified diff against what ``python`` has. Raises BadInput, NoEnvironment."""
    package = installed(python)
    found = patched(_read(diff), package)
    return _overlay(folder, package, found.files, found.left_out)


def from_modules(modules: Sequence[tuple[str, Path]], python: str, folder: Path) -> Overlay:
    """The overlay in which these modules are these files. Raises BadInput, NoEnvironment."""
    package = installed(python)
    files = [(_file_of(name, package), _read(path)) for name, path in modules]
    return _overlay(folder, package, files)


def installed(python: str) -> Path:
    """Where an interpreter has its executorch. Raises NoEnvironment."""
    said = subprocess.run(
        [python, "-c", _ASK], capture_output=True, text=True, check=False, cwd="/"
    )
    for line in said.stdout.splitlines():
        if (Path(line) / "exir").is_dir():
            return Path(line)
    raise NoEnvironment(f"{python} has no {PACKAGE}")


def versions(python: str) -> str:
    """The releases that an interpreter has, in a line. Raises NoEnvironment."""
    said = subprocess.run(
        [python, "-c", _VERSIONS], capture_output=True, text=True, check=False, cwd="/"
    )
    if said.returncode:
        raise NoEnvironment(f"{python} has no {PACKAGE}, or no torch")
    return said.stdout.strip()


def lay(folder: Path, package: Path, files: Iterable[tuple[str, str | None]]) -> None:
    """Write the package with these files changed (None: removed) below ``folder``. Raises OSError."""
    for name, content in files:
        place = folder / PACKAGE
        real = package
        _open(place, real)
        for part in Path(name).parts[:-1]:
            place, real = place / part, real / part
            _open(place, real)
        changed = place / Path(name).name
        changed.unlink(missing_ok=True)
        text = _REMOVED if content is None else content
        changed.write_bytes(text.encode("utf-8", "surrogateescape"))


def _overlay(
    folder: Path,
    package: Path,
    files: Sequence[tuple[str, str | None]],
    left_out: tuple[str, ...] = (),
) -> Overlay:
    try:
        lay(folder, package, files)
    except OSError as error:
        raise BadInput(f"the overlay cannot be written: {error}", hint="make room") from error
    digest = hashlib.sha256(repr(sorted(files)).encode()).hexdigest()[:16]
    return Overlay(folder, tuple(name for name, _ in files), left_out, digest)


def _open(place: Path, real: Path) -> None:
    """Make a folder of links of a link to a folder; what was compiled of the original is left out."""
    if place.is_dir() and not place.is_symlink():
        return
    place.unlink(missing_ok=True)
    place.mkdir(parents=True)
    for item in real.iterdir() if real.is_dir() else ():
        if item.name != "__pycache__":
            (place / item.name).symlink_to(item)


def _file_of(name: str, package: Path) -> str:
    first, *inner = name.split(".")
    if first != PACKAGE or not inner or not all(part.isidentifier() for part in inner):
        raise BadInput(
            f"{name!r} is no module of {PACKAGE}", hint="for example executorch.exir.pass_base"
        )
    for file in (Path(*inner).with_suffix(".py"), Path(*inner, "__init__.py")):
        if (package / file).is_file():
            return file.as_posix()
    raise BadInput(f"the installed {PACKAGE} has no module {name}", hint=f"it is in {package}")


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror or error}") from error
