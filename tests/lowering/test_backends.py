"""Does every row of the backends' table hold?"""

from __future__ import annotations

import pytest

from reducer.core.recipe import Construct, Items

pytestmark = pytest.mark.torch

OWN_FILE = ["vulkan", "webgpu", "xnnpack", "portable"]


@pytest.mark.parametrize("name", OWN_FILE)
def test_backend_with_a_file(name: str) -> None:
    from importlib import import_module

    from reducer.lowering.backends import find, name_of
    from reducer.lowering.construct import build

    backend = find(name)
    assert backend.name == name
    for module in backend.preload:
        import_module(module)
    constructs = backend.constructs()
    for construct in constructs:
        assert hasattr(build(construct), "partition")
    assert name_of(constructs) == name
    assert backend.status().usable


def test_options_reach_the_argument_that_takes_them() -> None:
    from reducer.lowering.backends import construct

    dynamic, blocked = ("require_dynamic_shapes", True), ("nn_module_blocklist", Items("list"))
    (vulkan,) = construct("vulkan", (dynamic, blocked))
    assert dict(vulkan.kwargs) == {
        "compile_options": Items("dict", (dynamic,)),
        "nn_module_blocklist": Items("list"),
    }
    given = ("compile_options", Items("dict", (("a", 1),)))
    (vulkan,) = construct("vulkan", (given, dynamic))
    assert vulkan.kwargs == (("compile_options", Items("dict", (("a", 1), dynamic))),)
    (xnnpack,) = construct("xnnpack", (("per_op_mode", True),))
    assert xnnpack.kwargs == (("per_op_mode", True),)


def test_any_class_by_its_path() -> None:
    from reducer.lowering.backends import construct, name_of

    (found,) = construct("some.package:Partitioner", (("a", 1),))
    assert found == Construct("some.package:Partitioner", kwargs=(("a", 1),))
    assert name_of((found,)) == "some.package:Partitioner"
    assert name_of(()) == "portable"


def test_every_row_has_a_status() -> None:
    from reducer.lowering.backends import NAMES, status

    rows = status().rows
    assert [row.name for row in rows] == list(NAMES)
    for row in rows:
        assert row.usable or row.reason
