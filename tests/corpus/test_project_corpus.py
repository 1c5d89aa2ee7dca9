"""Is every entry of the project's own corpus whole, told without anybody's paths, and still true?"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from reducer.cli.app import main
from reducer.corpus import groups
from reducer.corpus.reading import Kept
from reducer.corpus.store import Corpus

ROOT = Path(__file__).resolve().parents[2] / "corpus"
FOUND = Corpus(ROOT).read()


@pytest.mark.parametrize("found", FOUND, ids=lambda found: found.name)
def test_an_entry_is_whole(found: object) -> None:
    assert isinstance(found, Kept), found
    entry = found.entry
    assert entry.failing or entry.passing
    script = (found.folder / "repro.py").read_text()
    compile(script, "repro.py", "exec")
    assert "--expect-failure" in script
    for name in ("finding.json", *found.files):
        if not name.endswith(".safetensors"):
            text = (found.folder / name).read_text()
            assert not re.search(r"/(?:home|root|tmp|work|Users)/", text), name


def test_the_corpus_is_minimal_and_varied() -> None:
    entries = [found for found in FOUND if isinstance(found, Kept)]
    assert len(groups.enough(entries)) == len(entries)
    assert len(entries) >= 25
    assert len({kept.entry.bucket for kept in entries}) >= 12


@pytest.mark.torch
def test_every_entry_does_what_it_is_recorded_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["corpus", "check", str(ROOT), "--json"])
    told = json.loads(capsys.readouterr().out)
    wrong = [entry for entry in told["entries"] if entry["outcome"] != "still fails"]
    assert (code, wrong) == (0, [])
