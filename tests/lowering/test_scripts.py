"""Is an unmodified script's failing call found, however the script is written?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reducer.core.case import Case
from reducer.core.recipe import Construct, Items, Recipe
from reducer.core.stage import Stage
from reducer.core.wire import Capture

pytestmark = pytest.mark.torch

XNNPACK = "executorch.backends.xnnpack.partition.xnnpack_partitioner:XnnpackPartitioner"

#: ``Bad`` fails in the verifier (to_edge); ``Tagged`` when XNNPACK tags its constants (partition).
HEAD = """
import torch
from torch.export import export
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig
from executorch.exir import to_edge, to_edge_transform_and_lower

class Good(torch.nn.Module):
    def forward(self, x):
        return x * 2

class Bad(torch.nn.Module):
    def forward(self, x):
        return torch.fft.rfft(x + 1).abs()

class Tagged(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(3, 1, 2, 2))
    def forward(self, x):
        return torch.nn.functional.conv2d(x[None, None], self.weight), self.weight

x = torch.randn(2, 4)
"""

LOWER_BAD = "to_edge_transform_and_lower(export(Bad(), (x,)))\n"

#: (style, source, stage, operators of the case that counts, part of a note)
STYLES = [
    ("plain", LOWER_BAD, Stage.TO_EDGE, 3, ""),
    ("two steps", "to_edge(export(Bad(), (x,)))", Stage.TO_EDGE, 3, ""),
    ("main block", f"if __name__ == '__main__':\n    {LOWER_BAD}", Stage.TO_EDGE, 3, ""),
    ("module attribute", "import executorch.exir as e\n"
     "e.to_edge_transform_and_lower(torch.export.export(Bad(), (x,)))", Stage.TO_EDGE, 3, ""),
    ("keywords", "to_edge_transform_and_lower(programs=export(mod=Bad(), args=(x,)))",
     Stage.TO_EDGE, 3, ""),
    ("file opened around it", "with open('net.pte', 'wb') as file:\n"
     "    to_edge_transform_and_lower(export(Bad(), (x,))).to_executorch().write_to_file(file)",
     Stage.TO_EDGE, 3, ""),
    ("reported and exited", f"import sys\ntry:\n    {LOWER_BAD}except Exception as error:\n"
     "    print(error)\n    sys.exit(1)", Stage.TO_EDGE, 3, ""),
    ("raised again as another", f"try:\n    {LOWER_BAD}except Exception as error:\n"
     "    raise RuntimeError('lowering failed') from error", Stage.TO_EDGE, 3, ""),
    ("swallowed", f"try:\n    {LOWER_BAD}except Exception:\n    print('bad luck')\n",
     Stage.TO_EDGE, 3, "goes on after to_edge_transform_and_lower"),
    ("swallowed, then another passes", f"try:\n    {LOWER_BAD}except Exception:\n"
     "    to_edge_transform_and_lower(export(Good(), (x,)))", Stage.TO_EDGE, 3, "goes on after"),
    ("swallowed, then another ends it",
     "try:\n    to_edge(export(Bad(), (x,)))\nexcept Exception:\n    to_edge_transform_and_lower("
     "export(Tagged(), (x,)), partitioner=[XnnpackPartitioner()])", Stage.PARTITION, 3,
     "another call, to_edge, raises as well and is not what is reduced: SpecViolationError"),
    ("two models, the second fails",
     f"to_edge_transform_and_lower(export(Good(), (x,)))\n{LOWER_BAD}", Stage.TO_EDGE, 3, ""),
    ("several models in a loop",
     "for net in (Good(), Good(), Bad(), Good()):\n    to_edge(export(net, (x,)))",
     Stage.TO_EDGE, 3, ""),
    ("dict of programs", "to_edge_transform_and_lower({'encode': export(Good(), (x,)),"
     " 'decode': export(Bad(), (x,)), 'last': export(Good(), (x,))})",
     Stage.TO_EDGE, 3, "method 'decode' fails alone"),
    ("class with methods", "class Flow:\n    def export(self, net):\n"
     "        self.program = export(net, (x,))\n        return self\n    def lower(self):\n"
     "        return to_edge_transform_and_lower(self.program)\nFlow().export(Bad()).lower()",
     Stage.TO_EDGE, 3, ""),
    ("export session", "from executorch.export import ExportRecipe, export as go\n"
     "go(Bad(), [(x,)], ExportRecipe())", Stage.TO_EDGE, 3, ""),
    ("exported to a file and back", "torch.export.save(export(Bad(), (x,)), 'net.pt2')\n"
     "to_edge(torch.export.load('net.pt2'))", Stage.TO_EDGE, 3, ""),
    ("export that failed first", "try:\n    export(Bad(), (x, x))\nexcept Exception:\n    pass\n"
     + LOWER_BAD, Stage.TO_EDGE, 3, ""),
    ("partitioner in two steps",
     "edge = to_edge(export(Tagged(), (x,)))\nedge = edge.to_backend(XnnpackPartitioner())",
     Stage.PARTITION, 3, ""),
    ("partitioner by method", "to_edge_transform_and_lower({'go': export(Tagged(), (x,))},"
     " partitioner={'go': [XnnpackPartitioner()]})", Stage.PARTITION, 3, ""),
]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "stage", "operators", "note"),
    [row[1:] for row in STYLES],
    ids=[r[0] for r in STYLES],
)
def test_style(
    source: str, stage: Stage, operators: int, note: str,
    write: Callable[..., str], capture: Callable[..., Capture],
) -> None:  # fmt: skip
    found = capture(write(HEAD + source))
    assert found.form == "script"
    assert found.attempt.failure is not None
    assert found.attempt.failure.stage is stage
    assert found.case is not None
    assert found.case.operators == operators
    assert found.case.recipe.last_stage is stage
    assert note in "; ".join(found.notes)


def test_what_the_script_was_handling_is_no_cause(
    write: Callable[..., str], capture: Callable[..., Capture]
) -> None:
    retry = f"try:\n    1 / 0\nexcept ZeroDivisionError:\n    {LOWER_BAD}"
    failure = capture(write(HEAD + retry)).attempt.failure
    assert failure is not None
    assert "ZeroDivisionError" not in [link.type for link in failure.chain]


def recipe_of(source: str, write: Callable[..., str], capture: Callable[..., Capture]) -> Recipe:
    case = capture(write(HEAD + source)).case
    assert isinstance(case, Case)
    return case.recipe


def test_options_are_kept_as_written(
    write: Callable[..., str], capture: Callable[..., Capture]
) -> None:
    recipe = recipe_of(
        "to_edge_transform_and_lower(export(Bad(), (x,)),\n"
        "    partitioner=[XnnpackPartitioner(per_op_mode=True), XnnpackPartitioner()],\n"
        "    compile_config=EdgeCompileConfig(_skip_dim_order=True))",
        write,
        capture,
    )
    per_op = Construct(XNNPACK, kwargs=(("per_op_mode", True),))
    assert recipe.partitioners == (per_op, Construct(XNNPACK))
    assert recipe.compile_config == Construct(
        "executorch.exir:EdgeCompileConfig", kwargs=(("_skip_dim_order", True),)
    )
    assert recipe.backend == "xnnpack+xnnpack"
    assert not recipe.two_steps


def test_two_steps_with_transform_and_configs(
    write: Callable[..., str], capture: Callable[..., Capture]
) -> None:
    recipe = recipe_of(
        "from executorch.exir.passes import RemoveNoopPass\n"
        "edge = to_edge(export(Good(), (x,)), compile_config=EdgeCompileConfig())\n"
        "edge = edge.transform([RemoveNoopPass()])\n"
        "edge = edge.to_backend(XnnpackPartitioner())\n"
        "edge.to_executorch(ExecutorchBackendConfig(extract_delegate_segments=False))\n",
        write,
        capture,
    )
    assert recipe.two_steps
    assert recipe.compile_config is None
    assert [item.path.rpartition(":")[2] for item in recipe.transform_passes] == ["RemoveNoopPass"]
    assert recipe.partitioners == (Construct(XNNPACK),)
    assert recipe.executorch_config == Construct(
        "executorch.exir:ExecutorchBackendConfig", kwargs=(("extract_delegate_segments", False),)
    )
    assert recipe.last_stage is Stage.TO_EXECUTORCH


def test_options_that_cannot_be_written_down_are_noted(
    write: Callable[..., str], capture: Callable[..., Capture]
) -> None:
    found = capture(
        write(
            HEAD + "from executorch.backends.vulkan import VulkanPartitioner\n"
            "class Mine:\n    pass\n"
            "to_edge_transform_and_lower(export(Bad(), (x,)),\n"
            "    transform_passes=[lambda module: module],\n"
            "    partitioner=[VulkanPartitioner({}, [Mine], nn_module_blocklist=['a'])])"
        )
    )
    assert found.case is not None
    (partitioner,) = found.case.recipe.partitioners
    assert dict(partitioner.kwargs) == {
        "compile_options": Items("dict"),
        "nn_module_blocklist": Items("list", ("a",)),
    }
    assert any("VulkanPartitioner(operator_blocklist=...)" in note for note in found.notes)
    assert any("transform pass is left out" in note for note in found.notes)


def test_arguments_reach_the_script(
    write: Callable[..., str], capture: Callable[..., Capture]
) -> None:
    script = write(
        HEAD
        + "import argparse\np = argparse.ArgumentParser()\np.add_argument('--rows', type=int)\n"
        "x = torch.randn(p.parse_args().rows, 4)\n" + LOWER_BAD
    )
    found = capture(script, argv=("--rows", "7"))
    assert found.case is not None
    assert found.case.graph.inputs[0].spec.shape == (7, 4)  # type: ignore[union-attr]


def test_partitioner_in_a_module_beside_the_script(
    write: Callable[..., str], capture: Callable[..., Capture]
) -> None:
    write(
        "from executorch.exir.backend.partitioner import Partitioner\n"
        "class Mine(Partitioner):\n    def __init__(self, limit=0):\n        self.limit = limit\n"
        "    def partition(self, program):\n        raise ValueError('not today')\n",
        "partitioner_beside.py",
    )
    found = capture(
        write(
            HEAD + "from partitioner_beside import Mine\n"
            "to_edge_transform_and_lower(export(Good(), (x,)), partitioner=[Mine(limit=3)])"
        )
    )
    assert found.case is not None
    assert found.case.recipe.partitioners == (
        Construct("partitioner_beside:Mine", kwargs=(("limit", 3),)),
    )


def test_modules_beside_the_script_are_listed(
    write: Callable[..., str], capture: Callable[..., Capture]
) -> None:
    beside = write("SCALE = 3\n", "beside_the_script.py")
    script = write(HEAD + "import beside_the_script\n" + LOWER_BAD)
    files = [path for path, _ in capture(script).files]
    assert files == sorted(str(Path(path).resolve()) for path in (beside, script))


#: (script's lowering, backend, name in the recipe, stage or None)
OVERRIDDEN = [
    ("to_edge_transform_and_lower(p)", "xnnpack", "xnnpack", Stage.PARTITION),
    (
        "to_edge_transform_and_lower(p, partitioner=[XnnpackPartitioner()])",
        "portable",
        "portable",
        None,
    ),
    ("to_edge(p).to_backend(XnnpackPartitioner()).to_executorch()", "portable", "portable", None),
    ("to_edge(p).to_executorch()", "xnnpack", "xnnpack", Stage.PARTITION),
    ("to_edge(p)", "xnnpack", "xnnpack", Stage.PARTITION),
    ("", "xnnpack", "xnnpack", Stage.PARTITION),
    ("to_edge_transform_and_lower(p)", XNNPACK, "xnnpack", Stage.PARTITION),
]


@pytest.mark.parametrize(("lowering", "backend", "name", "stage"), OVERRIDDEN)
def test_backend_takes_the_place_of_the_script_s(
    lowering: str, backend: str, name: str, stage: Stage | None,
    write: Callable[..., str], capture: Callable[..., Capture],
) -> None:  # fmt: skip
    found = capture(write(HEAD + "p = export(Tagged(), (x,))\n" + lowering), backend)
    assert found.case is not None
    assert found.case.recipe.backend == name
    failure = found.attempt.failure
    assert (failure and failure.stage) == stage


def test_script_that_passes(write: Callable[..., str], capture: Callable[..., Capture]) -> None:
    found = capture(write(HEAD + "to_edge(export(Good(), (x,))).to_executorch()\nundefined_name"))
    assert found.attempt.failure is None
    assert found.case is not None
    assert found.case.operators == 1
    assert any("then ended with NameError" in note for note in found.notes)


def test_failure_at_run_time(write: Callable[..., str], capture: Callable[..., Capture]) -> None:
    found = capture(
        write(
            HEAD + "from executorch.extension.pybindings import portable_lib\n"
            "clip = torch.randn(1, 1, 3, 3, 3)\n"
            "made = to_edge(export(torch.nn.AvgPool3d(2), (clip,))).to_executorch()\n"
            "run = portable_lib._load_for_executorch_from_buffer(made.buffer)\n"
            "run.forward([clip])\n"
        )
    )
    assert found.case is not None
    assert found.attempt.failure is not None
    assert found.attempt.failure.stage is Stage.EXECUTE


def test_nothing_stays_patched(write: Callable[..., str], capture: Callable[..., Capture]) -> None:
    import sys

    import torch.export
    from executorch.exir import EdgeProgramManager, to_edge

    before = torch.export.export, to_edge, EdgeProgramManager.to_backend
    surroundings = sys.modules["__main__"], list(sys.argv), list(sys.path)
    capture(write(HEAD + LOWER_BAD))
    from executorch.exir import to_edge as to_edge_after

    assert (torch.export.export, to_edge_after, EdgeProgramManager.to_backend) == before
    assert (sys.modules["__main__"], sys.argv, sys.path) == surroundings
