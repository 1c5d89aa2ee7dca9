"""Is what registers operators told from the model beside it?"""

from __future__ import annotations

import ast

import pytest

from reducer.lowering.registrations import registering_source

FILE = '''\
"""A model."""
import os
import torch
from torch.library import Library, impl

SCALE = 3

lib = Library("my", "DEF")
lib.define("scale(Tensor x) -> Tensor")


def times(x):
    return x * SCALE


@impl(lib, "scale", "CPU")
def scale_cpu(x):
    return times(x)


@torch.library.custom_op("other::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@twice.register_fake
def _(x):
    return torch.empty_like(x)


class Net(torch.nn.Module):
    name = "my"

    def forward(self, x):
        return torch.ops.my.scale(twice(x))


model = Net()
print(os.getcwd(), lib)
example_inputs = (torch.ones(2),)
'''


def bound(source: str) -> list[str]:
    """What the statements of a source are called, or call."""
    found = []
    for one in ast.parse(source).body:
        name = getattr(one, "name", None)
        found.append(name or ast.unparse(one).partition("\n")[0])
    return found


@pytest.mark.parametrize(
    ("namespaces", "wanted"),
    [
        (
            {"my"},
            [
                "from torch.library import Library, impl",
                "SCALE = 3",
                "lib = Library('my', 'DEF')",
                "lib.define('scale(Tensor x) -> Tensor')",
                "times",
                "scale_cpu",
            ],
        ),
        ({"other"}, ["import torch", "twice", "_"]),
        ({"no"}, []),
        (set(), []),
    ],
)
def test_it_keeps_what_registers_and_what_that_needs(
    namespaces: set[str], wanted: list[str]
) -> None:
    assert bound(registering_source(FILE, namespaces)) == wanted


def test_all_namespaces_together_leave_only_the_model_out() -> None:
    assert set(bound(FILE)) - set(bound(registering_source(FILE, {"my", "other"}))) == {
        "'A model.'",
        "import os",
        "Net",
        "model = Net()",
        "print(os.getcwd(), lib)",
        "example_inputs = (torch.ones(2),)",
    }


def test_a_file_that_is_not_python_raises() -> None:
    with pytest.raises(SyntaxError):
        registering_source("def", {"my"})
