"""Does ``verify`` tell a fix from one that does nothing, and from one that only hides the symptom?"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reducer.cli.app import main
from reducer.core.errors import ExitCode
from reducer.core.order import sort_key
from reducer.corpus.store import Corpus
from reducer.oracle import overlay as overlays
from tests.workflows.overlay import RETRACE, mended, overlay, patch

pytestmark = pytest.mark.torch

ROOT = Path(__file__).resolve().parents[2] / "corpus"

#: Where the assertion of the failure is raised, and a way not to hear of it.
DETECTS = "exir/_program_utils.py"
_ASKS = "        fake_mode = detect_fake_mode(vals)\n"
_HIDES = """\
        try:
            fake_mode = detect_fake_mode(vals)
        except AssertionError:
            fake_mode = None
"""

Verify = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The simplest entry that the retrace is to blame for, and that the fix below mends."""
    found = [kept for kept in Corpus(ROOT).entries() if kept.entry.culprit == "ExportPass"]
    kept = min(found, key=lambda kept: (sort_key(kept.entry.case), kept.name))
    folder = tmp_path_factory.mktemp("verify") / "corpus"
    shutil.copytree(kept.folder, folder / kept.name)
    return folder


@pytest.fixture
def verify(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Verify:
    """Run it with a patch. The side without the fix is the same each time, and tried once."""

    def run(diff: str, *models: str) -> tuple[int, dict[str, Any]]:
        (tmp_path / "fix.patch").write_text(diff)
        chosen = [word for name in models for word in ("--model", name)]
        code = main(
            ["verify", str(corpus), "--patch", str(tmp_path / "fix.patch"), *chosen,
             "--results", str(corpus.parent / "results"), "--json"]
        )  # fmt: skip
        return code, json.loads(capsys.readouterr().out)

    return run


def installation() -> dict[str, int]:
    root = overlays.installed(sys.executable)
    return {str(path): path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()}


def test_a_fix(verify: Verify) -> None:
    before = installation()
    code, told = verify(patch(RETRACE, mended), "gated", "normalised")
    assert installation() == before
    assert (code, told["verified"], told["changed_files"]) == (0, True, [RETRACE])
    [entry] = told["entries"]
    assert entry["change"] == "fixed"
    assert (entry["before"]["test"], entry["after"]["test"]) == ("fails", "passes")
    assert [text for text in entry["invariants"] if text.startswith("no longer: one-fake-mode")]
    assert len(told["models"]) == 6
    assert all(model["identical"] for model in told["models"])
    assert {model["change"] for model in told["models"]} == {"unchanged"}


def test_a_fix_that_does_nothing(verify: Verify) -> None:
    code, told = verify(patch(RETRACE, lambda text: f"{text}\n# a fix\n"), "gated")
    assert (code, told["verified"]) == (ExitCode.NOT_VERIFIED, False)
    assert [entry["change"] for entry in told["entries"]] == ["still failing"]
    assert all(model["identical"] for model in told["models"])


def test_a_fix_that_only_hides_the_assertion(verify: Verify) -> None:
    code, told = verify(patch(DETECTS, lambda text: text.replace(_ASKS, _HIDES)), "gated")
    assert (code, told["verified"]) == (ExitCode.NOT_VERIFIED, False)
    [entry] = told["entries"]
    assert entry["after"]["outcome"] == "lowers"
    assert entry["change"] == "hidden, not fixed"
    assert (entry["before"]["test"], entry["after"]["test"]) == ("fails", "fails")


def test_what_is_mended_is_promoted_and_has_to_pass(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    variables = overlay(tmp_path, RETRACE, mended)
    python = tmp_path / "python"
    path = variables["PYTHONPATH"]
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{path}" exec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    mine = tmp_path / "corpus"
    shutil.copytree(corpus, mine)

    def check(*options: str) -> tuple[int, str]:
        code = main(["corpus", "check", str(mine), "--json", *options])
        [entry] = json.loads(capsys.readouterr().out)["entries"]
        return code, entry["outcome"]

    assert check("--python", str(python)) == (ExitCode.CHANGED, "fixed")
    [kept] = Corpus(mine).entries()
    assert main(["corpus", "promote", kept.name, "--corpus", str(mine)]) == 0
    assert capsys.readouterr().out == f"{kept.name}: must pass\n"
    assert check("--python", str(python)) == (0, "fixed")
    assert check() == (ExitCode.CHANGED, "still fails")


def test_a_fix_that_cannot_be_imported(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "fix.patch").write_text(patch(RETRACE, lambda text: f"{text}\nno python\n"))
    results = str(corpus.parent / "results")
    arguments = ["--patch", str(tmp_path / "fix.patch"), "--model", "gated", "--results", results]
    assert main(["verify", str(corpus), *arguments]) == ExitCode.BAD_INPUT
    assert "with the fix executorch cannot be imported" in capsys.readouterr().err
