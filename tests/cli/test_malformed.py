"""Does whatever cannot be reduced end with the right exit code and one message that helps?

Check 7 of the issue, as a table. Rows that need torch share one warm worker: each is a fork of it.
"""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

import pytest

from reducer.oracle.worker import Worker
from reducer.workflows import artefacts, output
from reducer.workflows import reduce as workflow

MODEL = "import torch\nmodel = torch.nn.Linear(4, 4).eval()\n"
INPUTS = "example_inputs = (torch.randn(1, 4),)\n"
GOOD = MODEL + INPUTS
EXPORT = "program = torch.export.export(model, example_inputs)\n"
LOWER = "from executorch.exir import to_edge_transform_and_lower as lower\n"
#: Fails in to_edge, without a delegate.
FAILING = """\
    import torch
    class Net(torch.nn.Module):
        def forward(self, x):
            return torch.fft.rfft(x).abs()
    model, example_inputs = Net(), (torch.randn(4),)
"""


class Row(NamedTuple):
    """``source`` goes to ``subject.py``; the command is ``reduce *arguments``."""

    name: str
    arguments: str
    code: int
    message: str
    source: str | bytes | None = None


AT_ONCE = [
    Row("missing file", "missing.py", 2, "missing.py does not exist"),
    Row("missing file, others beside it", "subjekt.py", 2, "subject.py", "x = 1"),
    Row("missing folder", "no/where/net.py", 2, "check the path"),
    Row("missing .pt2", "net.pt2", 2, "net.pt2 does not exist"),
    Row("directory", "folder", 2, "is a directory"),
    Row("directory with a colon", "fol:der", 2, "is a directory"),
    Row("empty file", "subject.py", 2, "subject.py is empty", ""),
    Row("a word", "vulkan", 2, "vulkan does not exist"),
    Row("output is a file", "subject.py -o subject.py", 2, "cannot write to subject.py", GOOD),
    Row("output below a file", "subject.py -o subject.py/out", 2, "choose another output", GOOD),
    Row("output cannot be made", "subject.py -o /proc/reduced", 2, "cannot write to /proc", GOOD),
    Row("output is a device", "subject.py -o /dev/null/x", 2, "cannot write to /dev/null", GOOD),
    Row("no length of time", "subject.py --budget soon", 2, "no length of time", GOOD),
    Row("no regular expression", "subject.py --match-regex *", 2, "regular expression", GOOD),
    Row("no level", "subject.py --match same", 2, "one of exact, raise-site, type", GOOD),
    Row("no option", "subject.py -O fast", 2, "key=value", GOOD),
    Row("no interpreter", "subject.py --python pithon", 2, "cannot be run", GOOD),
    Row("no such option", "subject.py --backends vulkan", 2, "--backend", GOOD),
]

IN_WORKER = [
    Row("nothing in it", "subject.py", 2, "defines no model", "x = 1\n"),
    Row("syntax error", "subject.py", 2, "subject.py:2: SyntaxError", "import torch\nmodel = (\n"),
    Row("indentation", "subject.py", 2, "IndentationError", "def f():\nreturn 1\n"),
    Row("binary", "subject.py", 2, "is not a Python file", b"\x7fELF\0\0\xff\xfe"),
    Row("not UTF-8", "subject.py", 2, "is not a Python file", b"x = '\xe9\xff'\n"),
    Row("a .pte", "net.pte", 2, "already lowered"),
    Row("a .onnx", "net.onnx", 2, "not its ONNX form"),
    Row("a .pth", "net.pth", 2, "weights alone"),
    Row("a .pt2 that is none", "broken.pt2", 2, "cannot be loaded as an exported program"),
    Row("special file", "/dev/null", 2, "reduce: /dev/null"),
    Row("module that is none", "no_such_package:model", 2, "no module named 'no_such_package'"),
    Row("attribute that is none", "torch.nn:Linearr", 2, "did you mean Linear"),
    Row("attribute without inputs", "torch.nn:ReLU", 2, "example_inputs"),
    Row("attribute of another kind", "torch:float32", 2, "is a dtype"),
    Row("attribute without a name", "torch.nn:", 2, "package.module:attribute"),
    Row("module that raises", "raising:model", 2, "ValueError: not now"),
    Row("raises on import", "subject.py", 2, "subject.py:3", "x = 1\n\n1 / 0\n"),
    Row("import that is missing", "subject.py", 2, "pip install not_there", "import not_there\n"),
    Row("sys.exit", "subject.py", 2, "sys.exit(3)", GOOD + "import sys; sys.exit(3)\n"),
    Row("argparse", "subject.py", 2, "after `--`",
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('name')\np.parse_args()\n"),
    Row("argument that is wrong", "subject.py -- --nmae x", 2, "sys.exit(2)",
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--name')\np.parse_args()\n"),
    Row("endless loop", "subject.py --timeout 2", 2, "did not come to an end within 2 s",
        "while True: pass\n"),
    Row("waits for input", "subject.py", 2, "EOFError", "input('name? ')\n"),
    Row("sleeps", "subject.py --timeout 1s", 2, "--timeout", "import time\ntime.sleep(600)\n"),
    Row("huge output", "subject.py", 2, "defines no model",
        "for _ in range(3000): print('x' * 10000)\n"),
    Row("huge output, control characters", "subject.py", 2, "ValueError",
        "raise ValueError('\\x1b[31m\\x07' + 'x' * 100000)\n"),
    Row("deep recursion", "subject.py", 2, "RecursionError", "def f(): f()\nf()\n"),
    Row("os._exit", "subject.py", 5, "ended itself with exit code 7", "import os\nos._exit(7)\n"),
    Row("os._exit(0)", "subject.py", 5, "exit code 0", "import os\nos._exit(0)\n"),
    Row("segfault", "subject.py", 5, "SIGSEGV", "import ctypes\nctypes.string_at(0)\n"),
    Row("abort", "subject.py", 5, "SIGABRT", "import os\nos.abort()\n"),
    Row("kills itself", "subject.py", 5, "SIGKILL", "import os\nos.kill(os.getpid(), 9)\n"),
    Row("no inputs", "subject.py", 2, "defines model but no example_inputs", MODEL),
    Row("no model", "subject.py", 2, "defines example_inputs but no model",
        "import torch\n" + INPUTS),
    Row("model is a class", "subject.py", 2, "not an instance",
        "import torch\nmodel = torch.nn.ReLU\n" + INPUTS),
    Row("model is a state dict", "subject.py", 2, "not a torch.nn.Module", "model = {}\n" + INPUTS
        .replace("torch.randn(1, 4)", "1")),
    Row("meta tensors", "subject.py", 2, "meta device",
        "import torch\ntorch.set_default_device('meta')\n" + GOOD),
    Row("inputs of another type", "subject.py", 2, "is a str", MODEL + "example_inputs = 'x'\n"),
    Row("get_model raises", "subject.py", 2, "OSError: no weights",
        "def get_model(): raise OSError('no weights')\ndef get_example_inputs(): return ()\n"),
    Row("too many inputs", "subject.py", 2, "do not fit the model's forward",
        MODEL + "example_inputs = (1, 2)\n"),
    Row("wrong keyword", "subject.py", 2, "it takes (input: torch.Tensor)",
        MODEL + "example_inputs = {'y': torch.ones(1, 4)}\n"),
    Row("dynamic_shapes of other arguments", "subject.py", 2, "dynamic_shapes",
        GOOD + "dynamic_shapes = {'other': {0: torch.export.Dim('b')}}\n"),
    Row("model that passes", "subject.py", 3, "does not fail", GOOD),
    Row("model that passes, with a backend", "subject.py -b xnnpack", 3, "with xnnpack", GOOD),
    Row("script that passes", "subject.py", 3, "does not fail",
        GOOD.replace("model", "net") + LOWER
        + "lower(torch.export.export(net, example_inputs)).to_executorch()\n"),
    Row("script that lowers nothing", "subject.py", 2, "does not lower it",
        GOOD.replace("model", "net").replace("example_inputs", "inputs")
        + "torch.export.export(net, inputs)\n"),
    Row("unknown backend", "subject.py -b vulcan", 2, "did you mean 'vulkan'", GOOD),
    Row("backend without a module", "subject.py -b no.such:Thing", 2, "no module named", GOOD),
    Row("backend without a class", "subject.py -b executorch.exir:Thing", 2, "has no", GOOD),
    Row("partitioner that takes no such option", "subject.py -b executorch.exir:EdgeCompileConfig -O sped=1",
        2, "its arguments are", GOOD),
    Row("partitioner that raises", "subject.py -b raising_backend:Bad", 2, "no device", GOOD),
    Row("option without a backend", "subject.py -O fast=1", 2, "add --backend", GOOD),
    Row("option for no partitioner", "subject.py -b portable -O fast=1", 2, "no options", GOOD),
    Row("partitioner is a class", "subject.py", 2, "give an instance",
        GOOD + "from executorch.backends.xnnpack import XnnpackPartitioner as partitioner\n"),
    Row("compile_config is a dict", "subject.py", 2, "EdgeCompileConfig",
        GOOD + "compile_config = {}\n"),
    Row("pattern that does not match", "subject.py -b portable --match-regex zebra", 2,
        "does not match the failure", FAILING),
    Row("disk is full from the start", "subject.py -o full_at_once", 2, "No space left", GOOD),
    Row("disk is full later", "subject.py -b portable -o full_later", 2, "No space left", FAILING),
    Row("files may not grow", "subject.py -b portable -o small_files", 2, "make room", FAILING),
]  # fmt: skip


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    """One warm worker for all rows, in a folder with two modules that can be imported from there."""
    folder = tmp_path_factory.mktemp("worker")
    (folder / "raising.py").write_text("raise ValueError('not now')\n")
    (folder / "raising_backend.py").write_text(
        "class Bad:\n    def __init__(self):\n        raise OSError('no device')\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        started = Worker(folder / "worker.log")
    with started:
        yield started


def prepare(row: Row, folder: Path) -> None:
    """Write what the row's command may find."""
    if row.source is not None:
        data = row.source if isinstance(row.source, bytes) else dedent(row.source).encode()
        (folder / "subject.py").write_bytes(data)
    for name in ("folder", "fol:der"):
        (folder / name).mkdir()
    for name in ("net.pte", "net.onnx", "net.pth", "broken.pt2"):
        (folder / name).write_bytes(b"PK\x03\x04\0\0\xff\xfe")


def check(row: Row, result: Any) -> None:
    """The exit code, and a message of two paragraphs at most with the words that help."""
    message = result.err[result.err.index("reduce: ") :]
    assert result.code == row.code, message
    assert row.message in message
    assert "Traceback" not in result.err
    assert "\x1b" not in result.err
    first, *rest = message.splitlines()
    assert len(first) < 600
    assert all(line.startswith("  ") for line in rest), "one message, then its hint"
    assert len(rest) <= 6
    assert result.out == ""


@pytest.mark.parametrize("row", AT_ONCE, ids=lambda row: row.name)
def test_refused_at_once(
    row: Row, command: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_worker(*_: Any, **__: Any) -> Any:
        raise AssertionError("a worker is started")

    bound = partial(workflow.reduce_subject, open_worker=no_worker)
    monkeypatch.setattr(workflow, "reduce_subject", bound)
    prepare(row, tmp_path)
    check(row, command(*row.arguments.split()))


@pytest.mark.torch
@pytest.mark.parametrize("row", IN_WORKER, ids=lambda row: row.name)
def test_refused_by_the_worker(
    row: Row,
    worker: Worker,
    command: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bound = partial(workflow.reduce_subject, open_worker=lambda *_, **__: nullcontext(worker))
    monkeypatch.setattr(workflow, "reduce_subject", bound)
    prepare(row, tmp_path)
    with trouble(row, monkeypatch):
        result = command(*row.arguments.split())
    check(row, result)
    if row.arguments.startswith("subject.py -b") and row.code == 2 and row.source == GOOD:
        assert not (tmp_path / "reduced").exists(), "left behind, with nothing in it"


def trouble(row: Row, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What is wrong with the disk in this row."""

    def full(path: Path, _: str | bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    if "full_at_once" in row.arguments:
        monkeypatch.setattr(output, "write_atomic", full)
    if "full_later" in row.arguments:
        monkeypatch.setattr(artefacts, "write_atomic", full)
    return small_files() if "small_files" in row.arguments else nullcontext()


class small_files:
    """No file of this process may grow beyond 20 kB: what a full disk or a quota does to sqlite."""

    def __enter__(self) -> None:
        self.before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, self.before[1]))

    def __exit__(self, *_: object) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, self.before)


def test_at_least_forty_rows() -> None:
    assert len(AT_ONCE) + len(IN_WORKER) >= 40
    assert len({row.name for row in AT_ONCE + IN_WORKER}) == len(AT_ONCE) + len(IN_WORKER)
