"""Does a diff change what it says, wherever its lines have moved to, and nothing if it does not fit?"""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest

from reducer.core.errors import BadInput
from reducer.oracle.patch import patched

BEFORE = "".join(f"line {number}\n" for number in range(40))
AFTER = BEFORE.replace("line 20\n", "line twenty\n").replace("line 30\n", "")


def diff(before: str, after: str, name: str = "exir/pass_base.py", to: str = "") -> str:
    old, new = before.splitlines(True), after.splitlines(True)
    return "".join(difflib.unified_diff(old, new, f"a/{name}", f"b/{to or name}", n=3))


@pytest.fixture
def package(tmp_path: Path) -> Path:
    root = tmp_path / "executorch"
    (root / "exir").mkdir(parents=True)
    (root / "exir" / "pass_base.py").write_text(BEFORE)
    return root


@pytest.mark.parametrize(
    "name",
    [
        "exir/pass_base.py",
        "src/executorch/exir/pass_base.py",
        "venv/executorch/lib/site-packages/executorch/exir/pass_base.py",
    ],
)
def test_a_diff_from_anywhere(package: Path, name: str) -> None:
    found = patched(diff(BEFORE, AFTER, name), package)
    assert dict(found.files) == {"exir/pass_base.py": AFTER}
    assert (package / "exir" / "pass_base.py").read_text() == BEFORE


def test_absolute_paths_as_diff_u_writes_them(package: Path) -> None:
    old, new = BEFORE.splitlines(True), AFTER.splitlines(True)
    text = "".join(difflib.unified_diff(old, new, f"{package}/exir/pass_base.py", "fixed.py"))
    assert dict(patched(text, package).files) == {"exir/pass_base.py": AFTER}


@pytest.mark.parametrize("more", ["", "new\n", "new\n" * 17])
def test_lines_that_moved(package: Path, more: str) -> None:
    (package / "exir" / "pass_base.py").write_text(more + BEFORE)
    [(_, content)] = patched(diff(BEFORE, AFTER), package).files
    assert content == more + AFTER


def test_the_nearest_of_equal_places(package: Path) -> None:
    block = "def f():\n    return 1\n\n"
    (package / "exir" / "pass_base.py").write_text(block * 5)
    text = "--- a/exir/pass_base.py\n+++ b/exir/pass_base.py\n@@ -8 +8 @@\n-    return 1\n+    return 2\n"
    [(_, content)] = patched(text, package).files
    assert content == block * 2 + block.replace("1", "2") + block * 2


def test_line_endings_and_the_last_line(package: Path) -> None:
    (package / "exir" / "pass_base.py").write_bytes(b"one\r\ntwo\r\nthree")
    text = diff("one\ntwo\n", "one\nzwei\ntwo\n")
    assert patched(text, package).files[0][1] == "one\r\nzwei\ntwo\r\nthree"
    last = (
        "--- a/exir/pass_base.py\n+++ b/exir/pass_base.py\n@@ -3 +3 @@\n-three\n"
        "\\ No newline at end of file\n+drei\n\\ No newline at end of file\n"
    )
    assert patched(last, package).files[0][1] == "one\r\ntwo\r\ndrei"


def test_what_does_not_fit_is_named(package: Path) -> None:
    text = diff(BEFORE, AFTER).replace("-line 30\n", "-line XXX\n")
    with pytest.raises(BadInput, match=r"hunk 2 of 2 does not fit exir/pass_base\.py"):
        patched(text, package)
    (package / "exir" / "pass_base.py").write_text(AFTER)
    with pytest.raises(BadInput) as raised:
        patched(diff(BEFORE, AFTER), package)
    assert raised.value.hint == "the installed package has this change already"


def test_files_made_removed_renamed_and_left_out(package: Path) -> None:
    (package / "exir" / "gone.py").write_text("old\n")
    (package / "exir" / "named.py").write_text("same\nold\n")
    git = (
        "diff --git a/exir/new.py b/exir/new.py\nnew file mode 100644\n--- /dev/null\n+++ b/exir/new.py\n"
        "@@ -0,0 +1 @@\n+new\n"
        "diff --git a/exir/gone.py b/exir/gone.py\ndeleted file mode 100644\n--- a/exir/gone.py\n+++ /dev/null\n"
        "@@ -1 +0,0 @@\n-old\n"
        "diff --git a/exir/named.py b/exir/other.py\nsimilarity index 50%\nrename from exir/named.py\n"
        "rename to exir/other.py\n--- a/exir/named.py\n+++ b/exir/other.py\n@@ -2 +2 @@\n-old\n+new\n"
        "diff --git a/runtime/a.cpp b/runtime/a.cpp\n--- a/runtime/a.cpp\n+++ b/runtime/a.cpp\n@@ -1 +1 @@\n-a\n+b\n"
        "diff --git a/exir/tests/t.py b/exir/tests/t.py\n--- a/exir/tests/t.py\n+++ b/exir/tests/t.py\n"
        "@@ -1 +1 @@\n-a\n+b\n"
    )
    found = patched(git, package)
    assert dict(found.files) == {
        "exir/new.py": "new\n",
        "exir/gone.py": None,
        "exir/named.py": None,
        "exir/other.py": "same\nnew\n",
    }
    assert found.left_out == ("runtime/a.cpp", "exir/tests/t.py")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no unified diff"),
        ("just words\n", "holds no unified diff"),
        ("--- a/exir/pass_base.py\n+++ b/exir/pass_base.py\n@@ -1,3 +1 @@\n-x\n", "no unified diff"),
        (diff("a\n", "b\n", "exir/unknown.py"), "exir/unknown.py is not in the installed package"),
        (diff("a\n", "b\n", "../outside.py"), "leaves the package"),
        (diff("a\n", "b\n", "exir/tests/t.py"), "changes nothing of the installed package"),
    ],
)  # fmt: skip
def test_bad_input(package: Path, text: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        patched(text, package)
