"""What do --oracle, --oracle-command and --expect-delegated mean?"""

from __future__ import annotations

from pathlib import Path

import pytest

from reducer.cli import values
from reducer.core.errors import BadInput
from reducer.core.stage import Stage
from reducer.emit.properties import PROPERTIES


def test_an_invariant_keeps_its_name() -> None:
    assert values.asked("metadata", None) == ("metadata", None)
    assert values.asked(None, None) == ("", None)


def test_a_property_that_is_built_in_is_asked_by_its_name() -> None:
    invariant, asked = values.asked("other-bytes", None)
    assert (invariant, asked) == ("", PROPERTIES["other-bytes"])
    assert asked is not None
    assert (asked.stage, asked.lowers) == (Stage.TO_EXECUTORCH, True)


def test_a_python_file_is_its_source(tmp_path: Path) -> None:
    path = tmp_path / "secret_project.py"
    path.write_text("def interesting(edge): return True")
    invariant, asked = values.asked(str(path), None)
    assert invariant == ""
    assert asked is not None
    assert (asked.name, asked.source) == ("oracle", path.read_text())  # not what the file is called
    assert asked.stage is Stage.PREPROCESS


def test_an_executable_file_is_repeated_in_the_source(tmp_path: Path) -> None:
    path = tmp_path / "check.sh"
    path.write_text("#!/bin/sh\nexit 0\n")
    with pytest.raises(BadInput, match="neither executable"):
        values.asked(str(path), None)
    path.chmod(0o755)
    _, asked = values.asked(str(path), None)
    assert asked is not None
    assert "#!/bin/sh" in asked.source
    assert str(tmp_path) not in asked.source
    assert asked.stage is Stage.TO_EXECUTORCH


def test_what_cannot_be_asked(tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    wrong = tmp_path / "wrong.py"
    wrong.write_text("x = 1")
    for file, command, told in (
        ("no-such-thing", None, "no file, no invariant"),
        (str(tmp_path), None, "no file, no invariant"),
        (str(binary), None, "cannot be read as text"),
        (str(wrong), None, "no function interesting"),
        (None, "echo 'a", "No closing quotation"),
        ("metadata", "true", "exclude each other"),
    ):
        with pytest.raises(BadInput, match=told):
            values.asked(file, command)
    with pytest.raises(BadInput, match="exclude each other"):
        values.asked(None, "true", "not-delegated")
