"""Which models do ExecuTorch's own operator tests lower? A file for each, as a user would hand it in.

    python -m tests.bench.suite.collect FOLDER

Each test is called once with a runner that lowers nothing and notes what it was given. A subject does the same
when it is run, so it needs the tests that come with executorch, and pytest.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import pkgutil
import sys
import unittest
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

TESTS = "executorch.backends.test.suite.operators"

SUBJECT = '''\
"""Model {number} of {name}, one of ExecuTorch's own operator tests."""

from types import SimpleNamespace

import torch

from {module} import {function}


class Taken:
    """Lowers nothing, notes what it was given."""

    _flow = SimpleNamespace(quantize=False)

    def __init__(self):
        self.given = []

    def lower_and_run_model(
        self, model, inputs, generate_random_test_inputs=True, dynamic_shapes=None
    ):
        self.given.append((model, inputs, dynamic_shapes))


torch.manual_seed(0)
taken = Taken()
{function}(taken{parameters})
model, example_inputs, dynamic_shapes = taken.given[{number}]
model.eval()
'''


def subjects() -> Iterator[tuple[str, str]]:
    """Name and text of each subject, in a stable order."""
    package = importlib.import_module(TESTS)
    for found in sorted(pkgutil.iter_modules(package.__path__), key=lambda item: item.name):
        if found.name.startswith("test_"):
            yield from _of_module(importlib.import_module(f"{TESTS}.{found.name}"))


def _of_module(module: ModuleType) -> Iterator[tuple[str, str]]:
    for function, test in sorted(vars(module).items()):
        if not function.startswith("test_") or not inspect.isfunction(test):
            continue
        for parameters in _parameters(test):
            written = "".join(f", {name}={value!r}" for name, value in parameters.items())
            values = "-".join(str(value).removeprefix("torch.") for value in parameters.values())
            for number in range(_models(test, parameters)):
                name = "-".join(filter(None, [function, values, str(number) if number else ""]))
                yield (
                    f"{module.__name__.rpartition('.')[2]}-{name.removeprefix('test_')}",
                    SUBJECT.format(
                        number=number,
                        name=f"{module.__name__}:{function}",
                        module=module.__name__,
                        function=function,
                        parameters=written,
                    ),
                )


def _parameters(test: Callable[..., object]) -> Iterator[dict[str, Any]]:
    """Every combination that the test is parametrised with."""
    lists = []
    for mark in getattr(test, "pytestmark", []):
        if mark.name == "parametrize":
            names, values = mark.args[:2]
            names = names.split(",") if isinstance(names, str) else list(names)
            rows = [value if len(names) > 1 else (value,) for value in values]
            lists.append([dict(zip(map(str.strip, names), row, strict=True)) for row in rows])
    for combination in itertools.product(*lists):
        yield {name: value for part in combination for name, value in part.items()}


def _models(test: Callable[..., object], parameters: dict[str, Any]) -> int:
    """How many models it lowers; none if it skips itself."""

    class Counting:
        _flow = SimpleNamespace(quantize=False)
        count = 0

        def lower_and_run_model(self, *_: object, **__: object) -> None:
            self.count += 1

    counting = Counting()
    with suppress(unittest.SkipTest):
        test(counting, **parameters)
    return counting.count


def main() -> None:
    """Write them all."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in subjects():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
