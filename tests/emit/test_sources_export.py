"""Do emitted sources export to the operators that they were made from?"""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

from reducer.core.recipe import Recipe  # noqa: E402
from reducer.core.wire import SpellJob  # noqa: E402
from reducer.emit.operator_tables import FUNCTIONAL, RENAMED, REORDERED  # noqa: E402
from reducer.emit.settle import settle  # noqa: E402
from reducer.emit.source import write_source  # noqa: E402
from reducer.lowering.data import DataStore  # noqa: E402
from reducer.lowering.fx.from_fx import case_from_program  # noqa: E402
from reducer.lowering.spell import spell  # noqa: E402

F = torch.nn.functional
X = torch.arange(6.0).reshape(2, 3)


class Layers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = torch.nn.LSTM(3, 4, batch_first=True)
        self.norm, self.conv = torch.nn.BatchNorm1d(2), torch.nn.Conv1d(2, 2, 1)

    def forward(self, x):
        return self.lstm(self.conv(self.norm(x)))[0]


class Cache(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("cache", torch.zeros(4, 3))
        self.table = torch.ones(3)

    def forward(self, x, where):
        self.cache.index_copy_(0, where, x)
        return {"out": self.cache + self.table, "all": [x]}


def in_place(x):
    y = x * 2
    y.add_(1)
    y[0] = 3.0
    y[:, 1].mul_(2)
    return y


def several(x):
    values, indices = torch.max(x, 1)
    first, second = x.chunk(2, -1)
    return values, indices, first * 2, second, torch.cat(x.split(1)), torch.topk(x, 1)[0]


def ordinary(x):
    y = F.gelu(F.linear(x, x)) @ x - (1 - x) / 2
    z = F.interpolate(x[None, None], scale_factor=2.0, mode="bicubic")
    return y.softmax(-1), z, torch.fft.rfft(x).abs(), torch.linalg.norm(x), x[:, 1:], ~(x > 0)


def branches(x):
    w = torch.sin(x)
    return torch.cond(x.sum() > 0, lambda x: w + x, lambda x: x * 2, (x,))


def loop(x):
    from torch._higher_order_ops.while_loop import while_loop

    k = x * 3
    return while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + k), (torch.tensor(0), x))[1]


def mapped(x):
    from torch._higher_order_ops.map import map as torch_map

    return torch_map(lambda row, y: row + y, x, x.sum(0))


def scanned(x):
    from torch._higher_order_ops.scan import scan

    return scan(lambda c, row: (c + row, c * row), torch.zeros(3), x)


def no_grad(x):
    with torch.no_grad():
        y = x * 2
    return y + x


def item(x, start):
    p = start[0].item()
    torch._check(p >= 0)
    torch._check(p < 2)
    return x[p : p + 1]


def quantised(x):
    import torch.ao.quantization.fx._decomposed

    ops = torch.ops.quantized_decomposed
    q = ops.quantize_per_tensor.default(x, 0.1, 0, -128, 127, torch.int8)
    return ops.dequantize_per_tensor.default(q, 0.1, 0, -128, 127, torch.int8)


def dynamic(x):
    return x.chunk(2, -1)[0].reshape(x.shape[0] * 3) * 2


DIM = {"x": {0: torch.export.Dim("batch", min=2, max=8)}}
MODELS = [
    (Layers(), (X[None],), None),
    (Cache(), (X, torch.tensor([1, 0])), None),
    *((f, (X,), None) for f in (in_place, several, branches, loop, mapped, scanned, no_grad)),
    (ordinary, (torch.eye(3),), None),
    (item, (X, torch.tensor([1])), None),
    (quantised, (X,), None),
    (dynamic, (torch.ones(4, 6),), DIM),
]


def as_module(model):
    if isinstance(model, torch.nn.Module):
        return model.eval()
    names = ", ".join(inspect.signature(model).parameters)
    space = {"torch": torch, "model": model}
    exec(f"class M(torch.nn.Module):\n    def forward(self, {names}): return model({names})", space)
    return space["M"]()


@pytest.mark.parametrize(
    ("model", "inputs", "dims"), MODELS, ids=lambda m: getattr(m, "__name__", "")
)
def test_settles_exactly(model, inputs, dims, tmp_path: Path) -> None:
    module = as_module(model)
    program = torch.export.export(module, inputs, dynamic_shapes=dims)
    case = case_from_program(program, Recipe(), DataStore(tmp_path))
    found = settle(case, lambda source: spell(SpellJob(source)))
    assert found.exact, found.difference
    assert found.questions <= 4
    source = write_source(case, found.spelling)
    assert "torch.ops.aten" not in source.text
    space = {"__name__": "emitted"}
    exec(source.text, space)
    example = space["example_inputs"]
    with torch.no_grad():
        wanted = program.module()(*(value.clone() for value in example))
        given = space["Repro"]().eval()(*(value.clone() for value in example))
    torch.testing.assert_close(given, wanted, equal_nan=True)


def test_functional_tables_agree_with_torch() -> None:
    """A swapped argument would export to the right operator, so nothing else would notice."""
    for name in sorted(FUNCTIONAL | set(REORDERED)):
        function = getattr(F, RENAMED.get(name, name))
        packet = getattr(torch.ops.aten, name)
        schema = getattr(packet, packet.overloads()[0])._schema
        theirs = [argument.name for argument in schema.arguments]
        order = REORDERED[name].split() if name in REORDERED else theirs
        try:
            ours = list(inspect.signature(function).parameters)
        except ValueError:  # built in: bound to the schema itself
            assert name not in REORDERED
            continue
        if ours[:1] == ["args"]:  # max_pool dispatches on return_indices
            continue
        same = {"self": "input", "indices": "input", "train": "training", "p": "p"}
        for left, right in zip(order, ours, strict=False):
            if right in ("inplace", "output_size"):
                break
            assert same.get(left, left) == right, name


def test_stored_tensors_come_back(tmp_path: Path) -> None:
    from safetensors.torch import load_file

    from reducer.emit.tensor_file import tensor_file

    store = DataStore(tmp_path / "data")
    tensors = {"weight": torch.randn(9, 9), "ids": torch.arange(100)}
    fills = {key: store.fill(value) for key, value in tensors.items()}
    path = tmp_path / "repro.safetensors"
    path.write_bytes(tensor_file({key: f.digest for key, f in fills.items()}, tmp_path / "data"))
    loaded = load_file(path)
    assert set(loaded) == set(tensors)
    assert all(torch.equal(loaded[key], tensors[key]) for key in tensors)
