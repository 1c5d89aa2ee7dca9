"""Does a process see the changed files of a package, and everything else as it is installed?"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from reducer.core.errors import BadInput, NoEnvironment
from reducer.oracle import overlay
from reducer.oracle.interpreter import Interpreter

PROBE = """
import executorch.exir.a as a, executorch.exir.deep.b as b, executorch.other as other
print(a.VALUE, b.VALUE, other.VALUE, b.beside())
"""
BESIDE = """
import os
VALUE = "b"
def beside():
    return open(os.path.join(os.path.dirname(__file__), "native.so")).read()
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages with a namespace package in it, as ExecuTorch is one."""
    root = tmp_path / "site" / "executorch"
    (root / "exir" / "deep").mkdir(parents=True)
    for name, text in {
        "other.py": "VALUE = 'other'\n",
        "exir/__init__.py": "",
        "exir/a.py": "VALUE = 'a'\n",
        "exir/deep/__init__.py": "",
        "exir/deep/b.py": BESIDE,
        "exir/deep/native.so": "code",
    }.items():
        (root / name).write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(root.parent))
    return root


def seen(place: Path | None) -> str:
    variables = Interpreter(overlay=str(place or "")).worker_variables
    done = subprocess.run(
        [sys.executable, "-c", PROBE], capture_output=True, text=True, check=False, env=variables
    )
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


def tree(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_only_what_is_changed_is_another(site: Path, tmp_path: Path) -> None:
    assert seen(None) == "a b other code"
    before = tree(site)
    place = tmp_path / "overlay"
    overlay.lay(place, site, [("exir/deep/b.py", BESIDE.replace('"b"', '"B"'))])
    assert seen(place) == "a B other code"
    assert (place / "executorch" / "exir" / "a.py").is_symlink()
    overlay.lay(place, site, [("exir/a.py", "VALUE = 'A'\n"), ("exir/new/c.py", "")])
    assert seen(place) == "A B other code"
    assert tree(site) == before


def test_a_removed_module_is_not_found(site: Path, tmp_path: Path) -> None:
    overlay.lay(tmp_path / "overlay", site, [("other.py", None)])
    assert seen(tmp_path / "overlay") == "ModuleNotFoundError: removed by the patch"


def test_a_module_exchanged(site: Path, tmp_path: Path) -> None:
    (tmp_path / "fixed.py").write_text("VALUE = 'fixed'\n")
    fixed = [("executorch.exir.a", tmp_path / "fixed.py")]
    found = overlay.from_modules(fixed, sys.executable, tmp_path / "overlay")
    assert found.files == ("exir/a.py",)
    assert seen(found.folder) == "fixed b other code"
    for name in ("executorch", "exir.a", "executorch.exir.unknown", "executorch.../x"):
        with pytest.raises(BadInput):
            overlay.from_modules([(name, tmp_path / "fixed.py")], sys.executable, tmp_path / "o")
    with pytest.raises(BadInput, match="cannot be read"):
        overlay.from_modules(
            [("executorch.exir.a", tmp_path / "no.py")], sys.executable, tmp_path / "o"
        )


def test_a_patch_from_a_file(site: Path, tmp_path: Path) -> None:
    patch = tmp_path / "fix.patch"
    patch.write_text(
        "--- a/exir/a.py\n+++ b/exir/a.py\n@@ -1 +1 @@\n-VALUE = 'a'\n+VALUE = 'patched'\n"
    )
    found = overlay.from_patch(patch, sys.executable, tmp_path / "overlay")
    assert seen(found.folder) == "patched b other code"
    again = overlay.from_patch(patch, sys.executable, tmp_path / "again")
    assert (found.digest, found.files) == (again.digest, ("exir/a.py",))


def test_what_a_script_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/mine")
    plain = Interpreter().script_variables
    assert "PYTHONPATH" not in plain
    assert "PYTHONHASHSEED" not in plain or "PYTHONHASHSEED" in os.environ
    laid = Interpreter(overlay="/over", hash_seed="0")
    assert laid.script_variables["PYTHONPATH"] == "/over"
    assert laid.worker_variables["PYTHONPATH"] == os.pathsep.join(["/over", "/mine"])
    assert laid.worker_variables["PYTHONHASHSEED"] == laid.script_variables["PYTHONHASHSEED"] == "0"


def test_an_interpreter_without_executorch(tmp_path: Path) -> None:
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S -I "$@"\n')
    bare.chmod(0o755)
    for ask in (overlay.installed, overlay.versions):
        with pytest.raises(NoEnvironment):
            ask(str(bare))
