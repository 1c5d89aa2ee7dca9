"""Are environments of releases made once, whole or not at all, in whichever way works?"""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from reducer.core.errors import BadInput, NoEnvironment
from reducer.core.releases import TORCH_FOR
from reducer.oracle import environments

UV = """#!/bin/sh
echo "uv $@" >> {log}
[ "$1" = venv ] || exit {code}
for last in "$@"; do :; done
mkdir -p "$last/bin"
printf '#!/bin/sh\\necho "python $@" >> {log}\\nexit {works}\\n' > "$last/bin/python"
chmod +x "$last/bin/python"
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(environments, "user_cache_path", lambda _: tmp_path / "cache")
    return tmp_path / "cache" / "environments"


def uv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int = 0, works: int = 0) -> Path:
    """An uv that writes down what it is asked for."""
    log, tool = tmp_path / "log", tmp_path / "bin" / "uv"
    tool.parent.mkdir(exist_ok=True)
    tool.write_text(UV.format(log=log, code=code, works=works))
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tool.parent}:/usr/bin:/bin")
    return log


def test_made_once(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = uv(tmp_path, monkeypatch)
    said: list[str] = []
    python = environments.interpreter("1.4.1", said.append)
    assert Path(python).is_file()
    assert "executorch==1.4.1 torch==2.13.*" in log.read_text()
    assert len(said) == 1
    asked = log.read_text()
    assert environments.interpreter("1.4.1", said.append) == python
    assert (log.read_text(), len(said)) == (asked, 1)
    assert [path.name for path in cache.iterdir()] == [Path(python).parents[1].name]


def test_what_cannot_be_installed_leaves_nothing(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uv(tmp_path, monkeypatch, code=1)
    monkeypatch.setattr(environments.sys, "executable", "/bin/false")  # pip does no better
    with pytest.raises(
        NoEnvironment, match=r"executorch==1\.5\.\* torch==2\.13\.\* safetensors cannot be"
    ):
        environments.interpreter("1.5")
    assert list(cache.iterdir()) == []


def test_what_does_not_import_is_none(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uv(tmp_path, monkeypatch, works=3)
    monkeypatch.setattr(environments.sys, "executable", "/bin/false")
    with pytest.raises(NoEnvironment):
        environments.interpreter("1.5.1")
    assert list(cache.iterdir()) == []


def test_somebody_else_was_faster(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uv(tmp_path, monkeypatch)
    ran = environments._ran

    def slow(command: list[str]) -> str:
        if command[0].endswith("uv") and command[1] == "venv":
            theirs = cache / environments._name("1.5.1") / "bin" / "python"
            theirs.parent.mkdir(parents=True)
            theirs.write_text("theirs")
        return ran(command)

    monkeypatch.setattr(environments, "_ran", slow)
    assert Path(environments.interpreter("1.5.1")).read_text() == "theirs"
    assert len(list(cache.iterdir())) == 1


def test_every_release_of_the_table_has_requirements() -> None:
    for release, torch in TORCH_FOR.items():
        assert environments.requirements(release)[1] == f"torch=={torch}.*"
    for bad in ("", "1", "9.9", "1.5; rm", "../1.5", "1.5.x"):
        with pytest.raises(BadInput):
            environments.requirements(bad)
