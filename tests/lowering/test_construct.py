"""Does every object that a user passes to ExecuTorch survive being written down as a call?"""

from __future__ import annotations

from typing import Any

import pytest

from reducer.core.recipe import Construct, Items, Plain

pytestmark = pytest.mark.torch


def values() -> dict[str, Any]:
    import pathlib

    import torch
    from executorch.exir import EdgeCompileConfig
    from executorch.exir.backend.backend_details import CompileSpec
    from executorch.exir.dynamic_shape import DynamicMemoryPlanningMode
    from packaging.version import Version

    return {
        "none": None, "bool": True, "int": 3, "float": -0.5, "text": "a", "bytes": b"\0\1",
        "tuple": (1, (2, "a")), "list": [1, [2]], "dict": {"a": {1: None}}, "set": {1, 2},
        "frozenset": frozenset({1}), "path": pathlib.Path("a/b"),
        "dtype": torch.float16, "device": torch.device("cpu"), "layout": torch.strided,
        "memory format": torch.channels_last, "operator": torch.ops.aten.add.Tensor,
        "packet": torch.ops.aten.add, "class": torch.nn.Linear,
        "function": torch.nn.functional.relu, "enum": DynamicMemoryPlanningMode.UPPER_BOUND,
        "version": Version("1.0"),
        "spec": CompileSpec("key", b"value"), "specs": [CompileSpec("a", b"")],
        "config": EdgeCompileConfig(preserve_ops=[torch.ops.aten.add.Tensor]),
    }  # fmt: skip


@pytest.mark.parametrize("name", [
    "none", "bool", "int", "float", "text", "bytes", "tuple", "list", "dict", "set", "frozenset",
    "path", "dtype", "device", "layout", "memory format", "operator", "packet", "class",
    "function", "enum", "version", "spec", "specs", "config",
])  # fmt: skip
def test_there_and_back(name: str) -> None:
    from reducer.core.text import dumps, loads
    from reducer.lowering.construct import build, express

    value = values()[name]
    plain = express(value)
    assert loads(dumps(plain)) == plain
    again = build(plain)
    assert again == value
    assert type(again) is type(value)


def written() -> list[tuple[Any, Plain]]:
    import torch
    from executorch.exir import EdgeCompileConfig
    from executorch.exir.dialects._ops import ops

    config = "executorch.exir:EdgeCompileConfig"
    return [
        (torch.float32, Construct("torch:float32", call=False)),
        (torch.device("cpu"), Construct("torch:device", ("cpu",))),
        ({"a": 1}, Items("dict", (("a", 1),))),
        (torch.ops.aten.mm.default, Construct("torch:ops.aten.mm.default", call=False)),
        (ops.edge.aten.mm.default,
         Construct("executorch.exir.dialects._ops:ops.edge.aten.mm.default", call=False)),
        (EdgeCompileConfig(), Construct(config)),
        (EdgeCompileConfig(_skip_dim_order=True),
         Construct(config, kwargs=(("_skip_dim_order", True),))),
    ]  # fmt: skip


@pytest.mark.parametrize("index", range(7))
def test_written_as_a_user_would(index: int) -> None:
    from reducer.lowering.construct import express

    value, plain = written()[index]
    assert express(value) == plain


def test_what_cannot_be_imported_is_named() -> None:
    from reducer.lowering.construct import Inexpressible, express

    class Local:
        pass

    for value, text in ((Local, "Local"), (Local(), "Local"), (lambda: 0, "<lambda>")):
        with pytest.raises(Inexpressible, match=text):
            express(value)


def test_constructor_calls_are_recorded() -> None:
    from reducer.lowering import recorder
    from reducer.lowering.construct import build, express

    recorder.install()
    from executorch.backends.vulkan import VulkanPartitioner
    from executorch.exir.passes import MemoryPlanningPass

    options = {"require_dynamic_shapes": True}
    partitioner = VulkanPartitioner(options, nn_module_blocklist=["head"])
    options["later"] = True
    plain = express(partitioner)
    assert isinstance(plain, Construct)
    assert plain.args == (Items("dict", (("require_dynamic_shapes", True),)),)
    assert dict(plain.kwargs) == {"nn_module_blocklist": Items("list", ("head",))}
    assert build(plain).nn_module_blocklist == {"head"}
    planning = express(MemoryPlanningPass(alloc_graph_input=False))
    assert isinstance(planning, Construct)
    assert planning.kwargs == (("alloc_graph_input", False),)


def test_a_dataclass_whose_constructor_takes_something_else() -> None:
    from dataclasses import dataclass, fields
    from importlib import import_module

    from reducer.lowering import recorder
    from reducer.lowering.construct import build, express

    recorder.install()
    spec = import_module("executorch.exir.backend.compile_spec_schema").CompileSpec

    @dataclass
    class Settings(spec):  # type: ignore[misc, valid-type, unused-ignore]
        def __init__(self, target: str) -> None:
            super().__init__("target", target.encode())

    Settings.__qualname__, Settings.__module__ = "Settings", __name__
    globals()["Settings"] = Settings
    assert {item.name for item in fields(Settings)} == {"key", "value"}
    recorder._record(Settings)
    made = Settings("u55")
    plain = express(made)
    assert plain == Construct(f"{__name__}:Settings", ("u55",))
    assert build(plain) == made
    # One that takes its fields is written by them, as they are now.
    changed = spec("key", b"old")
    changed.value = b"new"
    assert build(express(changed)) == changed


def test_recording_changes_nothing_else() -> None:
    import copy
    import gc

    from reducer.lowering import recorder

    recorder.install()
    from executorch.backends.xnnpack import XnnpackPartitioner
    from executorch.exir.backend.partitioner import Partitioner

    class Mine(Partitioner):  # type: ignore[misc,unused-ignore]
        def partition(self, exported_program: Any) -> Any: ...

    with pytest.raises(TypeError, match="abstract"):
        Partitioner()
    with pytest.raises(TypeError):
        Mine(1, 2, 3, 4)
    made = XnnpackPartitioner(per_op_mode=True)
    copied = copy.copy(made)
    assert copied.per_op_mode is True
    assert recorder.call_of(made) == ((), {"per_op_mode": True})
    assert recorder.call_of(copied) is None
    before = len(recorder._calls)
    del made
    gc.collect()
    assert len(recorder._calls) < before


def test_a_name_that_is_misspelt() -> None:
    from reducer.lowering.construct import build
    from reducer.lowering.errors import SubjectError

    with pytest.raises(SubjectError) as refused:
        build(Construct("torch.nn:Liner"))
    assert "Linear" in refused.value.hint
