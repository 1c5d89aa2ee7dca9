"""Which interpreter has a release of ExecuTorch? A virtual environment, made once, in the cache folder.

With uv if there is one, else (or where uv has no access to the packages) with venv and pip, each as it is
set up here: which index, which build of torch. It appears under its name when it is whole.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from platformdirs import user_cache_path

from reducer.core.errors import BadInput, NoEnvironment
from reducer.core.releases import TORCH_FOR, series

_RELEASE = re.compile(r"\d+\.\d+(\.\d+)*")
#: What the worker needs beside torch and executorch.
_OURS = "safetensors"
_WORKS = f"import torch, executorch.exir, {_OURS}"


def interpreter(release: str, say: Callable[[str], None] = lambda _: None) -> str:
    """The interpreter that has a release (``1.5.1``, or ``1.5`` for its newest) with the torch that fits.

    Made if it is not there; ``say`` is told. Raises BadInput, NoEnvironment.
    """
    wanted = requirements(release)
    place = user_cache_path("reduce") / "environments" / _name(release)
    python = place / "bin" / "python"
    if not python.exists():
        shutil.rmtree(place, ignore_errors=True)  # the Python that it was made with has gone
        say(f"installing {' '.join(wanted)} into {place}")
        _make(place, wanted)
    return str(python)


def requirements(release: str) -> tuple[str, ...]:
    """What to install for a release. Raises BadInput.

    >>> requirements("1.4.1")
    ('executorch==1.4.1', 'torch==2.13.*', 'safetensors')
    >>> requirements("1.3")[:2]
    ('executorch==1.3.*', 'torch==2.12.*')
    """
    if not _RELEASE.fullmatch(release) or series(release) not in TORCH_FOR:
        raise BadInput(
            f"--release {release!r}: which torch it needs is not known",
            hint=f"one of {', '.join(sorted(TORCH_FOR, key=order))}, or of theirs: 1.5.1",
        )
    exact = release if release.count(".") > 1 else f"{release}.*"
    return f"executorch=={exact}", f"torch=={TORCH_FOR[series(release)]}.*", _OURS


def order(release: str) -> tuple[int, ...]:
    """Releases in the order in which they came out.

    >>> sorted(["1.10", "1.2.1", "1.2"], key=order)
    ['1.2', '1.2.1', '1.10']
    """
    return tuple(map(int, release.split(".")))


def _name(release: str) -> str:
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return f"executorch-{release}-torch-{TORCH_FOR[series(release)]}-python-{version}"


def _make(place: Path, wanted: Sequence[str]) -> None:
    """Install into a folder beside ``place``, see that it works, rename it."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        new = Path(tempfile.mkdtemp(dir=place.parent, prefix=".new-"))
    except OSError as error:
        raise NoEnvironment(f"no environment can be made in {place.parent}: {error}") from error
    try:
        for way in _ways(new):
            if not (problem := _tried(new, way, wanted)):
                break
        else:
            raise NoEnvironment(
                f"{' '.join(wanted)} cannot be installed: {problem}",
                hint="install it yourself, and name its interpreter with --python",
            )
        try:
            new.rename(place)
        except OSError:
            if not place.exists():  # else somebody else was faster
                raise
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _ways(new: Path) -> list[list[list[str]]]:
    """Commands that make an environment and install into it, the better way first."""
    python = str(new / "bin" / "python")
    pip = [
        [sys.executable, "-m", "venv", "--clear", str(new)],
        [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"],
    ]
    if (uv := shutil.which("uv")) is None:
        return [pip]
    return [
        [
            [uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(new)],
            [uv, "pip", "install", "--quiet", "--python", python],
        ],
        pip,
    ]


def _tried(new: Path, way: Sequence[Sequence[str]], wanted: Sequence[str]) -> str:
    """Why it did not work in this way, in a line; "" if it did."""
    make, install = way
    works = [str(new / "bin" / "python"), "-c", _WORKS]
    return next(filter(None, map(_ran, (make, [*install, *wanted], works))), "")


def _ran(command: Sequence[str]) -> str:
    """The last that a command said if it failed; "" else."""
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env=kept, stdin=subprocess.DEVNULL
        )
    except OSError as error:
        return str(error)
    lines = (done.stderr or done.stdout).strip().splitlines()
    return (
        (lines[-1].strip()[:300] if lines else f"exit code {done.returncode}")
        if done.returncode
        else ""
    )
