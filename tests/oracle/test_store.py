"""Is what was paid for still there after any end, and never taken for something else?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from reducer.core.errors import BadInput
from reducer.core.signature import ChainLink, Failure
from reducer.core.stage import Stage
from reducer.core.wire import Attempt, Death, Environment, Refused
from reducer.oracle import store as module
from reducer.oracle.store import Store, store_key

HERE = Environment("3.11.7", "2.13.0", "1.5.1", "linux-x86_64", (("fast", "on"),))
FAILED = Attempt(
    Failure(Stage.PARTITION, (ChainLink("RuntimeError", "naïve\n"),)), partition=("a",)
)
RESULTS = [Attempt(), Attempt(invalid="no"), FAILED, Death("timeout", "60 s", Stage.EXPORT, "out"),
           Refused("no", "hint")]  # fmt: skip


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: type(result).__name__)
def test_a_result_is_there_for_the_next_run(result: Attempt, tmp_path: Path) -> None:
    first = Store(tmp_path / "store.sqlite")
    assert first.get("key") is None
    first.put("key", result, 1.25)
    first.close()
    again = Store(tmp_path / "store.sqlite")
    assert again.get("key") == (result, 1.25)
    assert again.get("other") is None
    assert len(again) == 1


def test_a_later_result_replaces_an_earlier_one(tmp_path: Path) -> None:
    store = Store(tmp_path / "store.sqlite")
    store.put("key", Attempt(), 1.0)
    store.put("key", FAILED, 2.0)
    assert store.get("key") == (FAILED, 2.0)
    assert len(store) == 1


def test_a_result_survives_a_killed_process(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    script = (
        "import os, signal, sys\nfrom pathlib import Path\n"
        "from reducer.core.wire import Attempt\nfrom reducer.oracle.store import Store\n"
        "store = Store(Path(sys.argv[1]))\n"
        "for n in range(50): store.put(str(n), Attempt(invalid=str(n)), n)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    root = str(Path(__file__).parents[2])
    process = subprocess.run(
        [sys.executable, "-c", script, str(path)],
        env={**os.environ, "PYTHONPATH": root},
        check=False,
    )
    assert process.returncode == -signal.SIGKILL
    store = Store(path)
    assert len(store) == 50
    assert store.get("49") == (Attempt(invalid="49"), 49.0)


def filled(path: Path) -> None:
    store = Store(path)
    for number in range(300):
        store.put(str(number), Attempt(invalid="x" * 500), 1.0)
    store.close()


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"not a database at all" * 100,
        lambda data: data[:100],
        lambda data: data[: len(data) // 2],
        lambda data: data[:4096] + b"\0" * 8192 + data[12288:],
        lambda data: data[:100] + Random(0).randbytes(4000) + data[4100:],
        lambda data: b"",
    ],
    ids=["other content", "header alone", "half", "hole", "noise", "empty"],
)
def test_a_damaged_file_costs_its_results_not_the_run(damage: object, tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    filled(path)
    path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]
    store = Store(path)
    found = [store.get(str(number)) for number in range(300)]
    assert all(result in (None, (Attempt(invalid="x" * 500), 1.0)) for result in found)
    store.put("new", FAILED, 1.0)
    assert store.get("new") == (FAILED, 1.0)
    store.close()
    assert Store(path).get("new") == (FAILED, 1.0)


def test_a_file_where_the_folder_should_be_is_reported(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(BadInput, match="cannot write to") as refused:
        Store(tmp_path / "taken" / "store.sqlite")
    assert "-o" in refused.value.hint


def test_a_folder_where_the_file_should_be_is_reported(tmp_path: Path) -> None:
    (tmp_path / "store.sqlite").mkdir()
    with pytest.raises(BadInput, match="cannot write to"):
        Store(tmp_path / "store.sqlite")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_reported(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(BadInput, match="cannot write to"):
        Store(tmp_path / "store.sqlite")


def test_missing_folders_are_made(tmp_path: Path) -> None:
    Store(tmp_path / "a" / "b" / "store.sqlite").put("key", Attempt(), 0.0)
    assert (tmp_path / "a" / "b" / "store.sqlite").exists()


@pytest.mark.parametrize("part", ["python", "torch", "executorch", "platform"])
def test_another_version_is_another_key(part: str) -> None:
    other = replace(HERE, **{part: "other"})
    assert store_key("judge", "digest", other) != store_key("judge", "digest", HERE)


def test_accelerations_do_not_count_but_kind_and_content_do() -> None:
    key = store_key("judge", "digest", HERE)
    assert store_key("judge", "digest", replace(HERE, accelerations=())) == key
    assert store_key("capture", "digest", HERE) != key
    assert store_key("judge", "other", HERE) != key


@pytest.mark.parametrize("version", ["STORE_VERSION", "SIGNATURE_VERSION"])
def test_other_rules_are_another_key(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    key = store_key("judge", "digest", HERE)
    monkeypatch.setattr(module, version, 99)
    assert store_key("judge", "digest", HERE) != key
