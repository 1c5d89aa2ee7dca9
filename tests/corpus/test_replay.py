"""Are entries that bring tensors, modules or scripts along tried as they were found?"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest
from corpus_cases import chain, finding, output_folder

from reducer.core.case import Case, Fill
from reducer.core.signature import signature_of
from reducer.core.wire import Attempt, Death, Limits, Refused
from reducer.corpus import replay, tensors
from reducer.corpus.entry import entry_of
from reducer.corpus.outcome import Outcome
from reducer.corpus.reading import Kept
from reducer.corpus.store import Corpus
from reducer.emit.tensor_file import tensor_file
from reducer.oracle.interpreter import Interpreter
from reducer.workflows import corpus as workflow


def stored(folder: Path, numbers: bytes) -> str:
    """A tensor in a data folder, as a worker writes it; its digest."""
    header = json.dumps(
        {"data": {"dtype": "F32", "shape": [len(numbers) // 4], "data_offsets": [0, len(numbers)]}},
        separators=(",", ":"),
    ).encode()
    header += b" " * (-len(header) % 8)
    content = len(header).to_bytes(8, "little") + header + numbers
    digest = hashlib.sha256(content).hexdigest()
    folder.mkdir(exist_ok=True)
    (folder / f"{digest}.safetensors").write_bytes(content)
    return digest


def with_tensors(*digests: str) -> Case:
    program = chain("aten.sin.default")
    [given] = program.graph.inputs
    inputs = (
        given,
        *(replace(given, name=f"w{n}", role="parameter", fill=Fill("data", digest=digest))
          for n, digest in enumerate(digests)),
    )  # fmt: skip
    return program.with_graph(replace(program.graph, inputs=inputs))


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    """An entry with two tensors in the file beside its script."""
    data = tmp_path / "data"
    digests = [stored(data, bytes(range(n))) for n in (16, 32)]
    folder = output_folder(tmp_path / "out", finding(with_tensors(*digests)))
    content = tensor_file(dict(zip(("weight", "other"), digests, strict=True)), data)
    (folder / "repro.safetensors").write_bytes(content)
    return workflow.add(folder, Corpus(tmp_path / "corpus")).kept


def test_tensors_are_found_by_what_they_are(kept: Kept, tmp_path: Path) -> None:
    again = tmp_path / "again"
    assert tensors.provide(kept, again)
    names = {f"{digest}.safetensors" for digest in kept.entry.stored}
    assert {path.name for path in again.iterdir()} == names
    for name in names:
        assert (again / name).read_bytes() == (tmp_path / "data" / name).read_bytes()


@pytest.mark.parametrize(
    "content", [b"", b"\xff" * 64, b"\x08" + b"\0" * 7 + b"[1, 2, 3", b"\0" * 16]
)
def test_a_damaged_file_has_none(kept: Kept, tmp_path: Path, content: bytes) -> None:
    (kept.folder / "repro.safetensors").write_bytes(content)
    assert not tensors.provide(kept, tmp_path / "again")


def test_a_case_without_tensors_needs_none(tmp_path: Path) -> None:
    folder = output_folder(tmp_path / "out", finding())
    kept = workflow.add(folder, Corpus(tmp_path / "corpus")).kept
    assert tensors.provide(kept, tmp_path / "again")
    assert not (tmp_path / "again").exists()


def test_what_the_worker_says() -> None:
    found = finding()
    wanted = signature_of(found.failure)
    death = Death("signal", "SIGSEGV", found.failure.stage)
    assert replay.judged(Death("exit", "3", failure=found.failure), wanted).outcome is Outcome.FAILS
    assert replay.judged(Attempt(found.failure), wanted).outcome is Outcome.FAILS
    seen = replay.judged(death, wanted)
    assert (seen.outcome, seen.detail) == (Outcome.DIFFERENT, "signal SIGSEGV in preprocess")
    assert replay.judged(Refused("no backend"), wanted) == replay.Seen(None, "no backend")


@pytest.mark.parametrize(
    ("kind", "limits"),
    [
        ("AssertionError", Limits(100, 8 << 30)),
        ("Hang", Limits(60, 8 << 30)),
        ("OutOfMemory", Limits(100, 2 << 30)),
    ],
)
def test_what_uses_up_all_it_is_given_is_given_little(kind: str, limits: Limits) -> None:
    entry = entry_of(finding())
    entry = replace(entry, signature=replace(entry.signature, types=("Exception", kind)))
    assert replay.limits(entry, 100) == limits


@pytest.mark.parametrize(
    ("judged", "said", "outcome"),
    [
        (Outcome.FAILS, None, Outcome.FAILS),
        (Outcome.FIXED, Outcome.FIXED, Outcome.FIXED),
        (Outcome.DIFFERENT, Outcome.DIFFERENT, Outcome.DIFFERENT),
        (Outcome.FIXED, Outcome.FAILS, Outcome.FLAKY),
        (Outcome.DIFFERENT, Outcome.FIXED, Outcome.FLAKY),
        (Outcome.FIXED, None, Outcome.FLAKY),
        (None, Outcome.FAILS, Outcome.FAILS),
        (None, Outcome.FIXED, Outcome.FIXED),
        (None, None, None),
    ],
)
def test_only_what_both_say_counts(
    monkeypatch: pytest.MonkeyPatch,
    kept: Kept,
    tmp_path: Path,
    judged: Outcome | None,
    said: Outcome | None,
    outcome: Outcome | None,
) -> None:
    with replay.Replayer(Interpreter("python"), 1.0) as replayer:
        monkeypatch.setattr(replayer, "_judged", lambda *_: replay.Seen(judged))
        monkeypatch.setattr(replayer, "_said", lambda *_: replay.Seen(said))
        assert replayer._seen(kept, tmp_path).outcome is outcome
