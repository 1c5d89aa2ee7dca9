"""Does everything that cannot be used get one message that says why, and a hint what to do?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reducer.core.python_source import ENTRY
from reducer.core.stage import Stage
from reducer.core.wire import Capture

pytestmark = pytest.mark.torch

MODEL = "import torch\nmodel = torch.nn.Linear(4, 4).eval()\n"
INPUTS = "example_inputs = (torch.randn(1, 4),)\n"
GOOD = MODEL + INPUTS
EXPORT = GOOD + "program = torch.export.export(model, example_inputs)\n"
LOWER = "from executorch.exir import to_edge_transform_and_lower\n"

#: (what it shows, source, part of the message, part of the hint)
REFUSED = [
    ("empty", "", "is empty", "Python file"),
    ("nothing in it", "x = 1\n", "defines no model and lowers none", "model = torch.nn.Linear"),
    ("only a comment", "# nothing\n", "defines no model and lowers none", "get_model()"),
    ("syntax error", "import torch\nmodel = (\n", "subject.py:2: SyntaxError", "model = ("),
    ("indentation", "def f():\nreturn 1\n", "subject.py:2: IndentationError", "return 1"),
    ("tabs and spaces", "if 1:\n        x = 1\n\ty = 2\n", "subject.py:3: TabError", "y = 2"),
    ("raises", "x = 1\n\n1 / 0\n", "raises ZeroDivisionError: division by zero", "subject.py:3"),
    ("raises in a function", "def f():\n    raise ValueError('no')\nf()\n",
     "ValueError: no", "subject.py:2"),
    ("missing package", "import not_installed_here\n", "No module named 'not_installed_here'",
     "pip install not_installed_here"),
    ("sys.exit", GOOD + "import sys; sys.exit(3)\n", "ends with sys.exit(3)", "`--`"),
    ("argparse without its argument",
     "import argparse\np = argparse.ArgumentParser()\np.add_argument('name')\np.parse_args()\n",
     "ends with sys.exit(2)", "`--`"),
    ("no inputs", MODEL, "defines model but no example_inputs", "example_inputs ="),
    ("no model", "import torch\n" + INPUTS, "defines example_inputs but no model", "model ="),
    ("model is a class", "import torch\nmodel = torch.nn.ReLU\n" + INPUTS,
     "is the class ReLU, not an instance", "model = ReLU(...)"),
    ("model is a function", "import torch\nmodel = torch.relu\n" + INPUTS,
     "not a torch.nn.Module", "wrap it"),
    ("model is None", "import torch\nmodel = None\n" + INPUTS, "is a NoneType", "for example"),
    ("model is a state dict", "import torch\nmodel = {'w': torch.ones(1)}\n" + INPUTS,
     "is a dict, not a torch.nn.Module", "for example"),
    ("inputs are a number", MODEL + "example_inputs = 4\n", "example_inputs", "a tuple"),
    ("inputs are a string", MODEL + "example_inputs = 'x'\n", "is a str", "a tuple"),
    ("dict with other keys", MODEL + "example_inputs = {0: 1}\n", "is a dict", "keyword"),
    ("get_model is no function", "get_model = 3\nget_example_inputs = 4\n", "is a int", ""),
    ("get_model raises", "def get_model():\n    raise OSError('no weights')\n"
     "def get_example_inputs():\n    return ()\n", "OSError: no weights", "subject.py:2"),
    ("get_model wants arguments", "def get_model(size):\n    ...\n", "TypeError", "run it alone"),
    ("dynamic_shapes is a string", GOOD + "dynamic_shapes = 'batch'\n", "dynamic_shapes", "Dim("),
    ("dynamic_shapes of other arguments",
     GOOD + "dynamic_shapes = {'other': {0: torch.export.Dim('b')}}\n",
     "dynamic_shapes do not fit", "argument of forward"),
    ("quantizer is a class",
     GOOD + "from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import XNNPACKQuantizer\n"
     "quantizer = XNNPACKQuantizer\n", "the class XNNPACKQuantizer", "set_global"),
    ("too many inputs", MODEL + "example_inputs = (1, 2)\n", "do not fit", "it takes (input"),
    ("wrong keyword", MODEL + "example_inputs = {'y': torch.randn(1, 4)}\n", "do not fit", "input"),
    ("partitioner is a class",
     GOOD + "from executorch.backends.xnnpack import XnnpackPartitioner as partitioner\n",
     "the class XnnpackPartitioner", "give an instance"),
    ("compile_config is a dict", GOOD + "compile_config = {}\n", "a dict", "EdgeCompileConfig("),
    ("exports, does not lower", EXPORT.replace("model", "net").replace("example_inputs", "args"),
     "exports a program but does not lower it", "--backend"),
    ("lowers no program", GOOD + LOWER + "to_edge_transform_and_lower(model)\n", "raises", ""),
    ("partitioner in no list",
     EXPORT + LOWER + "from executorch.backends.xnnpack import XnnpackPartitioner\n"
     "to_edge_transform_and_lower(program, partitioner=XnnpackPartitioner())\n",
     "is not a list", "partitioner=[...]"),
    ("runs a .pte that is not there",
     "from executorch.runtime import Runtime\nRuntime.get().load_program('no.pte')\n",
     "raises", "run it alone"),
    ("partitioner of the script's own",
     EXPORT + LOWER + "from executorch.exir.backend.partitioner import Partitioner\n"
     "class Mine(Partitioner):\n    def partition(self, program):\n        raise ValueError\n"
     "to_edge_transform_and_lower(program, partitioner=[Mine()])\n",
     "__main__.Mine", "module of its own"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "message", "hint"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_refused_file(
    source: str, message: str, hint: str, write: Callable[..., str], capture: Callable[..., Capture]
) -> None:
    from reducer.lowering.errors import SubjectError

    with pytest.raises(SubjectError) as refused:
        capture(write(source))
    assert message in refused.value.message
    assert hint in refused.value.hint
    assert "\n" not in refused.value.message


#: (subject, or content of a binary file; message; hint)
ELSEWHERE = [
    ("missing.py", "does not exist", "there.py"),
    ("nowhere/missing.py", "does not exist", "check the path"),
    ("folder", "is a directory", "in it"),
    ("net.pte", "is not a Python file", "already lowered"),
    ("net.onnx", "is not a Python file", "not its ONNX form"),
    ("weights.pth", "is not a Python file", "weights alone"),
    ("binary.py", "is not a Python file", "hand in a .py file"),
    ("latin.py", "is not a Python file", "hand in a .py file"),
    ("broken.pt2", "cannot be loaded as an exported program", "torch.export.save"),
    ("empty.pt2", "is empty", "torch.export.save"),
    ("missing.pt2", "does not exist", "there.py"),
    ("no_such_package:model", "no module named 'no_such_package'", "check the spelling"),
    ("there:", "not of the form package.module:attribute", "for example"),
    ("torch.nn:Linearr", "has no 'Linearr'", "did you mean Linear"),
    ("torch:float32", "is a dtype", "(model, example_inputs)"),
    ("torch.nn:ReLU", "defines model but no example_inputs", "example_inputs ="),
    ("torch.nn:Linear", "raises TypeError", "run it alone"),
]


@pytest.mark.parametrize(("subject", "message", "hint"), ELSEWHERE, ids=[r[0] for r in ELSEWHERE])
def test_refused_subject(
    subject: str, message: str, hint: str, write: Callable[..., str],
    capture: Callable[..., Capture], tmp_path: Path,
) -> None:  # fmt: skip
    from reducer.lowering.errors import SubjectError

    write(GOOD, "there.py")
    (tmp_path / "folder").mkdir()
    for name in ("net.pte", "net.onnx", "weights.pth", "binary.py", "broken.pt2"):
        (tmp_path / name).write_bytes(b"PK\x03\x04\0\0\xff\xfe")
    (tmp_path / "latin.py").write_bytes(b"x = '\xe9\xff'\n")
    (tmp_path / "empty.pt2").write_bytes(b"")
    with pytest.raises(SubjectError) as refused:
        capture(subject)
    assert message in refused.value.message
    assert hint in refused.value.hint


#: (backend, options, message, hint)
BACKENDS = [
    ("vulcan", {}, "did you mean 'vulkan'", "reduce backends"),
    ("no.such:Partitioner", {}, "no module named 'no'", "check the spelling"),
    ("executorch.exir:Missing", {}, "has no 'Missing'", ""),
    ("portable", {"a": 1}, "takes no options (a)", "--backend-option"),
    ("executorch.exir:EdgeCompileConfig", {"b": 1}, "cannot be constructed", "its arguments are"),
    ("executorch.exir:to_edge", {}, "cannot be constructed", "its arguments are"),
    (None, {"a": 1}, "no backend", "--backend"),
]


@pytest.mark.parametrize(("backend", "options", "message", "hint"), BACKENDS)
def test_refused_backend(
    backend: str | None, options: dict[str, int], message: str, hint: str,
    write: Callable[..., str], capture: Callable[..., Capture],
) -> None:  # fmt: skip
    from reducer.lowering.errors import SubjectError

    with pytest.raises(SubjectError) as refused:
        capture(write(GOOD), backend, **options)
    assert message in refused.value.message
    assert hint in refused.value.hint


#: (what it shows, source, stage, part of the outermost message): failures before there is a graph.
WITHOUT_GRAPH = [
    ("wrong shape", MODEL + "example_inputs = torch.ones(1, 5)\n", Stage.EAGER, "cannot be mult"),
    ("data-dependent branch",
     "import torch\nclass Net(torch.nn.Module):\n    def forward(self, x):\n"
     "        return x + 1 if x.sum() > 0 else x\n"
     "model = Net()\nexample_inputs = torch.ones(3)\n", Stage.EXPORT, "data-dependent"),
    ("violated constraint",
     GOOD + "dynamic_shapes = {'input': {1: torch.export.Dim('width', min=2, max=8)}}\n",
     Stage.EXPORT, "width"),
    ("quantizer that raises",
     GOOD + "from torchao.quantization.pt2e.quantizer import Quantizer\n"
     "class Bad(Quantizer):\n    def annotate(self, model):\n        raise ValueError('cannot')\n"
     "    def validate(self, model):\n        pass\nquantizer = Bad()\n", Stage.QUANTIZE, "cannot"),
    ("script whose export raises",
     GOOD.replace("model", "net") + "torch.export.export(net, (torch.randn(1, 5),))\n",
     Stage.EXPORT, "same reduction dim"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "stage", "message"),
    [row[1:] for row in WITHOUT_GRAPH],
    ids=[row[0] for row in WITHOUT_GRAPH],
)
def test_failure_before_there_is_a_graph(
    source: str,
    stage: Stage,
    message: str,
    write: Callable[..., str],
    capture: Callable[..., Capture],
) -> None:
    found = capture(write(source))
    assert found.case is not None
    assert not found.case.graph.nodes
    assert f"def {ENTRY[stage]}():" in found.case.source
    assert found.attempt.failure is not None
    assert found.attempt.failure.stage is stage
    assert message in found.attempt.failure.chain[0].message
