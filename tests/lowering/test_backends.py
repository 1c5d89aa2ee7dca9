"""Does every row of the backends' table hold?"""

from __future__ import annotations

from pathlib import Path

import pytest

from reducer.core.recipe import Construct, Items
from reducer.core.wire import Backends, BackendsJob, BackendStatus, Capture, CaptureJob, Limits
from reducer.oracle.worker import Worker

pytestmark = pytest.mark.torch

LIGHT = ["vulkan", "webgpu", "xnnpack", "portable"]
ALL = [
    *LIGHT, "coreml", "coreai", "metal", "mps", "mlx", "qualcomm", "tosa", "ethosu", "vgf",
    "cortex_m", "openvino", "samsung", "mediatek", "nxp", "cadence", "cuda", "aoti", "native",
    "example",
]  # fmt: skip

MODEL = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.linear = torch.nn.Conv2d(3, 4, 3), torch.nn.Linear(16, 2)
    def forward(self, x):
        return torch.relu(self.linear(torch.relu(self.conv(x)).flatten(1)))

torch.manual_seed(0)
model, example_inputs = Model().eval(), (torch.randn(1, 3, 4, 4),)
"""

#: Those that take only what is quantised, and their quantizer.
QUANTIZERS = {
    "example": """
from executorch.backends.example.example_quantizer import ExampleQuantizer
quantizer = ExampleQuantizer()
""",
    "ethosu": """
from executorch.backends.arm.ethosu import EthosUCompileSpec
from executorch.backends.arm.quantizer import EthosUQuantizer, get_symmetric_quantization_config
quantizer = EthosUQuantizer(EthosUCompileSpec("ethos-u55-128"))
quantizer.set_global(get_symmetric_quantization_config())
""",
}


@pytest.fixture(scope="module")
def rows(warm_worker: Worker) -> dict[str, BackendStatus]:
    found = warm_worker.run(BackendsJob(), Limits(300)).result
    assert isinstance(found, Backends)
    return {row.name: row for row in found.rows}


def test_every_name_is_listed(rows: dict[str, BackendStatus]) -> None:
    from reducer.lowering.backends import NAMES

    assert list(rows) == list(NAMES) == ALL
    for row in rows.values():
        assert row.usable or row.reason


@pytest.mark.parametrize("name", ALL)
def test_what_is_usable_lowers_a_healthy_model(
    name: str, rows: dict[str, BackendStatus], warm_worker: Worker, tmp_path: Path
) -> None:
    if not rows[name].usable:
        pytest.skip(rows[name].reason)
    subject = tmp_path / "healthy.py"
    subject.write_text(MODEL + QUANTIZERS.get(name, ""))
    answer = warm_worker.run(CaptureJob(str(subject), str(tmp_path), name), Limits(300)).result
    assert isinstance(answer, Capture), answer
    assert answer.attempt.failure is None
    assert answer.case is not None
    assert answer.case.recipe.backend == name


@pytest.mark.parametrize("name", LIGHT)
def test_those_that_every_wheel_has_are_usable(name: str, rows: dict[str, BackendStatus]) -> None:
    from reducer.lowering.backends import find, name_of

    assert rows[name].usable
    assert name_of(find(name).constructs()) == name


@pytest.mark.parametrize("name", ALL)
def test_a_name_means_the_same_in_both_directions(name: str) -> None:
    from reducer.lowering.backends import find, name_of

    backend = find(name)
    assert backend.name == name
    assert name_of(backend.constructs()) == (name if backend.partitioner else "portable")


def test_options_reach_the_argument_that_takes_them() -> None:
    from reducer.lowering.backends import find

    dynamic, blocked = ("require_dynamic_shapes", True), ("nn_module_blocklist", Items("list"))
    (vulkan,) = find("vulkan").constructs((dynamic, blocked))
    assert dict(vulkan.kwargs) == {
        "compile_options": Items("dict", (dynamic,)),
        "nn_module_blocklist": Items("list"),
    }
    given = ("compile_options", Items("dict", (("a", 1),)))
    (vulkan,) = find("vulkan").constructs((given, dynamic))
    assert vulkan.kwargs == (("compile_options", Items("dict", (("a", 1), dynamic))),)
    (xnnpack,) = find("xnnpack").constructs((("per_op_mode", True),))
    assert xnnpack.kwargs == (("per_op_mode", True),)


def test_options_change_the_specs_that_a_backend_is_given_by_default() -> None:
    from dataclasses import replace

    from reducer.lowering.backends import find
    from reducer.lowering.backends.backend import compile_spec

    # The class is not asked for its arguments where its package is missing.
    known = "executorch.backends.xnnpack.partition.xnnpack_partitioner:XnnpackPartitioner"
    (call,) = replace(find("ethosu"), partitioner=known).constructs((("target", "ethos-u85-256"),))
    assert call.kwargs[0][1] == Construct(
        "executorch.backends.arm.ethosu:EthosUCompileSpec", kwargs=(("target", "ethos-u85-256"),)
    )
    specs = replace(find("openvino"), partitioner=known)
    (call,) = specs.constructs((("device", "GPU"), ("extra", 1)))
    made = (compile_spec("device", b"GPU"), compile_spec("extra", b"1"))
    assert call.kwargs == (("compile_spec", Items("list", made)),)


def test_any_class_by_its_path() -> None:
    from reducer.lowering.backends import find, lowering, name_of

    (found,) = find("some.package:Partitioner").constructs((("a", 1),))
    assert found == Construct("some.package:Partitioner", kwargs=(("a", 1),))
    assert name_of((found,)) == "some.package:Partitioner"
    assert name_of(()) == "portable"
    path = find("xnnpack").partitioner
    assert lowering(path).backend == "xnnpack"


def test_several_backends_in_their_order() -> None:
    from reducer.lowering.backends import find, lowering

    found = lowering("xnnpack,vulkan", (("vulkan.require_dynamic_shapes", True),))
    assert found.backend == "xnnpack+vulkan"
    (xnnpack,) = find("xnnpack").constructs()
    (vulkan,) = find("vulkan").constructs((("require_dynamic_shapes", True),))
    assert found.partitioners == (xnnpack, vulkan)


@pytest.mark.parametrize(
    ("names", "options", "told"),
    [
        ("xnnpack,portable", (), "no partitioner"),
        ("xnnpack,vulcan", (), "did you mean 'vulkan'"),
        ("xnnpack,vulkan", (("per_op_mode", True),), "which of xnnpack, vulkan"),
        ("portable", (("a", 1),), "takes no options"),
    ],
)
def test_lists_that_mean_nothing(names: str, options: tuple, told: str) -> None:  # type: ignore[type-arg]
    from reducer.lowering.backends import lowering
    from reducer.lowering.errors import SubjectError

    with pytest.raises(SubjectError, match=told):
        lowering(names, options)


TWO_STEPS = (
    MODEL
    + """
from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.exir import to_edge

edge = to_edge(torch.export.export(model, example_inputs))
edge.to_backend(VulkanPartitioner()).to_executorch()
"""
)


@pytest.mark.parametrize(
    "script", [TWO_STEPS, TWO_STEPS.replace(".to_backend(VulkanPartitioner())", "")]
)
def test_several_take_the_place_of_a_scripts_own(
    script: str, warm_worker: Worker, tmp_path: Path
) -> None:
    subject = tmp_path / "script.py"
    subject.write_text(script)
    job = CaptureJob(str(subject), str(tmp_path), "xnnpack,vulkan")
    answer = warm_worker.run(job, Limits(300)).result
    assert isinstance(answer, Capture), answer
    assert answer.attempt.failure is None
    assert answer.case is not None
    recipe = answer.case.recipe
    assert (recipe.backend, recipe.two_steps) == ("xnnpack+vulkan", True)
    assert [item.path.rpartition(":")[2] for item in recipe.partitioners] == [
        "XnnpackPartitioner",
        "VulkanPartitioner",
    ]


COREML = (
    MODEL
    + """
import coremltools
from executorch.backends.apple.coreml.compiler import CoreMLBackend
from executorch.backends.apple.coreml.partition import CoreMLPartitioner
from executorch.exir import to_edge_transform_and_lower

specs = CoreMLBackend.generate_compile_specs(compute_precision=coremltools.precision.FLOAT32)
program = torch.export.export(model, example_inputs)
partitioner = CoreMLPartitioner(compile_specs=specs, lower_full_graph=True)
to_edge_transform_and_lower(program, partitioner=[partitioner]).to_executorch()
"""
)


def test_a_script_with_objects_that_make_compile_specs(
    rows: dict[str, BackendStatus], warm_worker: Worker, tmp_path: Path
) -> None:
    if not rows["coreml"].usable:
        pytest.skip(rows["coreml"].reason)
    subject = tmp_path / "script.py"
    subject.write_text(COREML)
    answer = warm_worker.run(CaptureJob(str(subject), str(tmp_path)), Limits(300)).result
    assert isinstance(answer, Capture), answer
    assert answer.case is not None
    assert not any("left out" in note for note in answer.notes)
    (call,) = answer.case.recipe.partitioners
    given = dict(call.kwargs)
    assert given["lower_full_graph"] is True
    specs = given["compile_specs"]
    assert isinstance(specs, Items)
    named = [dict(spec.kwargs) for spec in specs.items if isinstance(spec, Construct)]
    assert {"key": "model_compute_precision", "value": b"float32"} in named
