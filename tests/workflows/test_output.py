"""Are results of one run never lost, nor taken for those of another?"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from reducer.core.errors import BadInput
from reducer.core.events import Event, Note
from reducer.core.wire import Environment, Refused
from reducer.workflows.output import open_output
from reducer.workflows.reduce import reduce_subject
from reducer.workflows.settings import ReduceSettings


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ReduceSettings:
    """A subject, and a folder that holds the results of a run on it."""
    monkeypatch.chdir(tmp_path)
    Path("net.py").write_text("x = 1\n")
    Path("other.py").write_text("x = 2\n")
    chosen = ReduceSettings("net.py", "vulkan", (("fast", True),), output=Path("out"))
    open_output(chosen)
    return chosen


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"subject": "other.py"}, "net.py"),
        ({"backend": "xnnpack"}, "backend vulkan"),
        ({"options": ()}, "options (('fast', True),)"),
        ({"oracle": "metadata"}, "no oracle"),
        ({"timeout": 3.0, "max_calls": 3}, None),
    ],
)
def test_results_of_another_run_are_not_overwritten(
    changes: dict[str, Any], message: str | None, settings: ReduceSettings
) -> None:
    other = replace(settings, **changes)
    if message is None:
        assert open_output(other).root == Path("out")
        return
    with pytest.raises(BadInput) as refused:
        open_output(other)
    assert "out holds the results of another run, which was of" in refused.value.message
    assert message in refused.value.message
    assert "-o" in refused.value.hint
    assert open_output(settings).root == Path("out")
    assert open_output(replace(other, output=None)).root == Path(
        "reduced", Path(other.subject).stem
    )


def test_two_runs_do_not_share_a_folder(settings: ReduceSettings) -> None:
    with (
        open_output(settings).taken(),
        pytest.raises(BadInput, match="another run is writing to out") as error,
    ):
        reduce_subject(settings, lambda _: None)
    assert "-o" in error.value.hint
    assert Path("out/state/run.json").exists()
    with open_output(settings).taken():
        pass  # the lock went with its holder


def refused(settings: ReduceSettings) -> list[Event]:
    """What a run reports whose subject is refused when it is captured."""
    answer = SimpleNamespace(result=Refused("no model"), seconds=1.0)
    worker = SimpleNamespace(environment=Environment(), run=lambda *_: answer)
    events: list[Event] = []
    with pytest.raises(BadInput, match="no model"):
        reduce_subject(settings, events.append, open_worker=lambda *_, **__: nullcontext(worker))
    return events


def test_results_of_a_subject_since_edited_are_set_aside(settings: ReduceSettings) -> None:
    for number in (1, 2):
        names = ["repro.py", "repro.safetensors", "finding.json", "others/1/repro.py"]
        names += ["repro_pass.py", "repro_pass.safetensors", "test_repro.py"]
        for name in names:
            path = Path("out", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(str(number))
        (note,) = [event for event in refused(settings) if isinstance(event, Note)]
        assert f"out/state/earlier-{number}" in note.text
        assert [path.name for path in Path("out").iterdir()] == ["state"]
        for name in names:
            assert Path(f"out/state/earlier-{number}", name).read_text() == str(number)
    assert not [event for event in refused(settings) if isinstance(event, Note)]


def test_a_folder_with_nothing_in_it_is_removed_by_the_run_that_made_it(
    settings: ReduceSettings,
) -> None:
    refused(settings)
    assert Path("out/state").exists()
    Path("mine").mkdir()
    for folder, left in [("a/b/c", "a"), ("mine/b", "mine/b"), ("mine", "mine/state")]:
        refused(replace(settings, output=Path(folder)))
        assert Path(left).exists() is (folder == "mine")
    assert Path("mine").exists()
