"""Does ``reducer.reduce`` do from Python what the command does?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import reducer
from reducer.core.events import Captured, Event
from reducer.core.recipe import Construct, Items
from reducer.core.signature import MatchRule
from reducer.workflows import reduce as workflow
from reducer.workflows.settings import ReduceSettings


class Called(Exception):
    """Raised by the fake workflow, with the settings that it got."""


@pytest.fixture
def settings_of(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Settings that a call of ``reducer.reduce`` leads to."""

    def reduce_subject(settings: ReduceSettings, report: Any) -> Any:
        raise Called(settings)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(workflow, "reduce_subject", reduce_subject)

    def call(*args: Any, **kwargs: Any) -> ReduceSettings:
        with pytest.raises(Called) as called:
            reducer.reduce(*args, **kwargs)
        return called.value.args[0]  # type: ignore[no-any-return]

    return call


def test_public_names() -> None:
    assert all(hasattr(reducer, name) for name in reducer.__all__)
    code = "import sys, reducer; print('torch' in sys.modules or 'jinja2' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_path_is_passed_on(settings_of: Any) -> None:
    found = settings_of(
        Path("net.py"), backend="vulkan", output="out", match="type", max_calls=3, budget=60.0,
        timeout=5.0,
    )  # fmt: skip
    assert found == ReduceSettings(
        "net.py", "vulkan", (), Path("out"), MatchRule("type"), 5.0, 3, 60.0
    )
    assert settings_of("package.module:net").subject == "package.module:net"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"match": "loose"}, "match='loose' is unknown"),
        ({"match_regex": "("}, "not a regular expression"),
        ({"backend": "vulkan", "partitioner": object()}, "both backend and partitioner"),
        ({"example_inputs": (1,)}, "says itself"),
        ({"compile_config": object()}, "says itself"),
    ],
)
def test_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(reducer.BadInput, match=message):
        reducer.reduce("net.py", **arguments)


@pytest.mark.torch
class TestWithTorch:
    def test_module_is_exported_and_saved(self, settings_of: Any) -> None:
        import torch

        inputs = {"input": torch.ones(2, 4)}
        dynamic = {"input": {0: torch.export.Dim("batch")}}
        model = torch.nn.Linear(4, 4)
        found = settings_of(model, inputs, "portable", dynamic_shapes=dynamic)
        assert (found.subject, found.backend) == ("reduced/Linear/state/Linear.pt2", "portable")
        program = torch.export.load(found.subject)
        assert program.range_constraints
        assert settings_of(program, output="x").subject == "x/state/ExportedProgram.pt2"

    def test_backend_as_a_class_with_options(self, settings_of: Any) -> None:
        import torch
        from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner

        found = settings_of(
            torch.nn.ReLU(),
            torch.ones(1),
            XnnpackPartitioner,
            backend_options={"per_op_mode": True, "levels": [1]},
        )
        assert found.backend.endswith("xnnpack_partitioner:XnnpackPartitioner")
        assert found.options == (("per_op_mode", True), ("levels", Items("list", (1,))))

    def test_objects_become_a_script(self, settings_of: Any) -> None:
        import torch
        from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
        from executorch.exir import EdgeCompileConfig

        from reducer.lowering import recorder

        recorder.install()
        partitioner = VulkanPartitioner({"require_dynamic_shapes": True})
        config = EdgeCompileConfig(_check_ir_validity=False)
        first = settings_of(
            torch.nn.ReLU(), torch.ones(1), partitioner=partitioner, compile_config=config
        )
        assert (first.subject, first.backend) == ("reduced/ReLU/state/ReLU.py", None)
        text = Path(first.subject).read_text()
        assert 'VulkanPartitioner({"require_dynamic_shapes": True})' in text
        assert "compile_config=EdgeCompileConfig(_check_ir_validity=False)" in text
        settings_of(torch.nn.ReLU(), torch.ones(7), partitioner=partitioner)
        assert Path(first.subject).read_text() != text
        assert len(list(Path("reduced/ReLU/state").glob("*.pt2"))) == 1

    def test_instance_made_earlier_is_told(self) -> None:
        from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner

        from reducer.lowering import recorder
        from reducer.lowering.hand_over import lowering

        recorder.install()
        partitioner = VulkanPartitioner()
        recorder._calls.clear()
        notes: list[str] = []
        constructs, config = lowering(partitioner, None, (), None, notes)
        assert [type(item) for item in constructs] == [Construct]
        assert config is None
        assert "is not known" in notes[0]
        assert "backend_options" in notes[1]

    @pytest.mark.parametrize(
        ("model", "inputs", "error"),
        [("not one", None, reducer.BadInput), (None, (), reducer.BadInput)],
    )
    def test_no_model(
        self, model: Any, inputs: Any, error: type[Exception], tmp_path: Path
    ) -> None:
        with pytest.raises(error):
            reducer.reduce(model, inputs, output=tmp_path)

    def test_folder_of_another_run_is_left_alone(self, settings_of: Any) -> None:
        import torch

        from reducer.workflows.output import open_output

        open_output(settings_of(torch.nn.ReLU(), torch.ones(1), "portable"))
        saved = Path("reduced/ReLU/state/ReLU.pt2")
        before = saved.read_bytes()
        assert settings_of(torch.nn.ReLU(), torch.ones(1), "portable").subject == str(saved)
        other = settings_of(torch.nn.ReLU(), torch.ones(7), "xnnpack")
        assert other.subject == "reduced/ReLU-xnnpack/state/ReLU.pt2"
        saved.write_bytes(before)
        with pytest.raises(reducer.BadInput, match="results of another run"):
            reducer.reduce(torch.nn.ReLU(), torch.ones(7), "xnnpack", output="reduced/ReLU")
        assert saved.read_bytes() == before

    def test_export_that_fails(self, tmp_path: Path) -> None:
        import torch

        with pytest.raises(reducer.NotHandled, match=r"torch\.export\.export fails"):
            reducer.reduce(torch.nn.Linear(4, 4), torch.ones(1, 5), output=tmp_path)

    def test_whole_way(self, tmp_path: Path) -> None:
        import torch

        class Spectrum(torch.nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return torch.fft.rfft(torch.relu(x)).abs() + 1

        events: list[Event] = []
        found = reducer.reduce(
            Spectrum(), (torch.randn(8),), "portable", output=tmp_path, report=events.append
        )
        assert found.code is reducer.ExitCode.REDUCED
        assert found.finding.case.operators < found.finding.operators_before == 4
        assert "class Repro" in found.source
        assert found.repro == tmp_path / "repro.py"
        assert len(repr(found)) < 300
        assert any(isinstance(event, Captured) for event in events)
