"""Does every form of subject give the same case?"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reducer.core.recipe import Construct
from reducer.core.stage import Stage
from reducer.core.wire import Capture

pytestmark = pytest.mark.torch

NET = """
import torch
class Net(torch.nn.Module):
    def forward(self, x, scale=None):
        y = torch.fft.rfft(x + 1).abs()
        return y if scale is None else y * scale
"""

#: (form, source of a model file that fails at to_edge, operators)
FILES = [
    ("tuple", "model = Net()\nexample_inputs = (torch.randn(2, 4),)\n", 3),
    ("one tensor", "model = Net()\nexample_inputs = torch.randn(2, 4)\n", 3),
    ("list", "model = Net()\nexample_inputs = [torch.randn(2, 4)]\n", 3),
    ("dict", "model = Net()\n"
     "example_inputs = {'x': torch.randn(2, 4), 'scale': torch.ones(1)}\n", 4),
    ("functions", "def get_model():\n    return Net()\n"
     "def get_example_inputs():\n    return (torch.randn(2, 4),)\n", 3),
    ("model and a function", "model = Net()\n"
     "def get_example_inputs():\n    return (torch.randn(2, 4),)\n", 3),
    ("exits when done", "model = Net()\nexample_inputs = (torch.randn(2, 4),)\nexit(0)\n", 3),
    ("in the main block", "if __name__ == '__main__':\n    model = Net()\n"
     "    example_inputs = (torch.randn(2, 4),)\n", 3),
    ("exports to try it", "model = Net()\nexample_inputs = (torch.randn(2, 4),)\n"
     "torch.export.export(model, example_inputs)\n", 3),
    ("already exported", "model = torch.export.export(Net(), (torch.randn(2, 4),))\n", 3),
]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "operators"), [row[1:] for row in FILES], ids=[row[0] for row in FILES]
)
def test_model_file(
    source: str, operators: int, write: Callable[..., str], capture: Callable[..., Capture]
) -> None:
    found = capture(write(NET + source))
    assert found.form == "model file"
    assert_fails_at_to_edge(found, operators)


def assert_fails_at_to_edge(found: Capture, operators: int = 3) -> None:
    assert found.case is not None
    assert found.case.operators == operators
    assert found.attempt.failure is not None
    assert found.attempt.failure.stage is Stage.TO_EDGE


def test_exported_file(write: Callable[..., str], capture: Callable[..., Capture]) -> None:
    import torch

    class Net(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            magnitude: torch.Tensor = torch.fft.rfft(x + 1).abs()
            return magnitude

    path = write("", "net.pt2")
    torch.export.save(torch.export.export(Net(), (torch.randn(2, 4),)), path)
    found = capture(path, "xnnpack")
    assert found.form == ".pt2 file"
    assert [file for file, _ in found.files] == [path]
    assert_fails_at_to_edge(found)


ATTRIBUTES = """
model = Net()
example_inputs = (torch.randn(2, 4),)
def make():
    return Net(), (torch.randn(2, 4),)
class Holder:
    def __init__(self):
        self.model, self.example_inputs = make()
        self.dynamic_shapes = {"x": {0: torch.export.Dim("rows")}}
held = Holder()
program = torch.export.export(model, example_inputs)
"""


@pytest.mark.parametrize("attribute", ["model", "make", "Holder", "held", "program", "Net"])
def test_attribute(
    attribute: str, write: Callable[..., str], capture: Callable[..., Capture]
) -> None:
    # A name of its own for each: modules stay loaded in this process.
    write(NET + ATTRIBUTES, f"attributes_{attribute}.py")
    found = capture(f"attributes_{attribute}:{attribute}")
    assert found.form == "attribute"
    assert_fails_at_to_edge(found)
    assert found.case is not None
    assert bool(found.case.symbols) == (attribute in ("Holder", "held"))


def test_partitioner_and_config_of_the_file(
    write: Callable[..., str], capture: Callable[..., Capture]
) -> None:
    source = write(
        NET + "from executorch.backends.xnnpack import XnnpackPartitioner\n"
        "from executorch.exir import EdgeCompileConfig\n"
        "model, example_inputs = Net(), (torch.randn(2, 4),)\n"
        "partitioner = XnnpackPartitioner(per_op_mode=True)\n"
        "compile_config = EdgeCompileConfig(_skip_dim_order=True)\n"
    )
    found = capture(source)
    assert_fails_at_to_edge(found)
    assert found.case is not None
    recipe = found.case.recipe
    assert recipe.backend == "xnnpack"
    assert recipe.partitioners[0].kwargs == (("per_op_mode", True),)
    assert recipe.compile_config == Construct(
        "executorch.exir:EdgeCompileConfig", kwargs=(("_skip_dim_order", True),)
    )
    overridden = capture(source, "portable").case
    assert overridden is not None
    assert overridden.recipe.partitioners == ()


def test_quantized_model(write: Callable[..., str], capture: Callable[..., Capture]) -> None:
    found = capture(
        write("""
            import torch
            from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
                XNNPACKQuantizer, get_symmetric_quantization_config)
            model = torch.nn.Linear(4, 4).eval()
            example_inputs = (torch.randn(1, 4),)
            quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config())
        """),
        "xnnpack",
    )
    assert found.attempt.failure is None
    assert found.case is not None
    targets = [node.target for node in found.case.graph.nodes]
    assert any(target.startswith("quantized_decomposed.quantize") for target in targets)
