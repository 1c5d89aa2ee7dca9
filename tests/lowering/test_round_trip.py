"""An exported program, flattened to a case and rebuilt, exports to the same operators and numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

import torch.utils._pytree as pytree  # noqa: E402
from torch import nn  # noqa: E402
from torch.export import Dim  # noqa: E402

from reducer.core import text  # noqa: E402
from reducer.core.recipe import Recipe  # noqa: E402
from reducer.lowering.data import DataStore  # noqa: E402
from reducer.lowering.fx.from_fx import case_from_program  # noqa: E402
from reducer.lowering.fx.targets import target_text  # noqa: E402
from reducer.lowering.fx.to_fx import export_case  # noqa: E402


class Function(nn.Module):
    """A module around a function."""

    def __init__(self, function, **buffers):
        super().__init__()
        self.function = function
        for name, value in buffers.items():
            self.register_buffer(name, value)

    def forward(self, *args, **kwargs):
        return self.function(self, *args, **kwargs)


class Cached(nn.Module):
    """A buffer that is written to."""

    def __init__(self):
        super().__init__()
        self.register_buffer("cache", torch.zeros(1, 8, 4))
        self.register_buffer("seen", torch.zeros(1, dtype=torch.int64), persistent=False)

    def forward(self, x, where):
        self.cache.index_copy_(1, where, x)
        self.seen.add_(1)
        return self.cache.sum(1) + self.seen


class Views(nn.Module):
    """Writes through views."""

    def forward(self, x):
        y = x.clone()
        y[:, 1:].mul_(2)
        y.view(-1)[0] = 3.0
        return y.t().contiguous()


def _item(self, x, start):
    place = start.item()
    torch._check(place >= 0)
    torch._check(place < 3)
    return x[place : place + 2]


def _branches(self, x):
    return torch.cond(x.sum() > 0, lambda a: a.sin() + 1, lambda a: a.cos(), (x,))


def _loop(self, x):
    from torch._higher_order_ops.while_loop import while_loop

    scale = x.mean()
    return while_loop(
        lambda i, y: i < 3, lambda i, y: (i + 1, y * 0.5 + scale), (torch.tensor(0), x)
    )[1]


def _map(self, xs, y):
    from torch._higher_order_ops.map import map as map_over

    return map_over(lambda x, z: x * z + 1, xs, y)


def _no_grad(self, x):
    with torch.no_grad():
        y = x * 2
    return y + x


BATCH = Dim("batch", min=1, max=16)
F = nn.functional
KINDS = {
    "transformer": (
        nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval(),
        (torch.randn(1, 4, 8),),
        None,
    ),
    "conv and batch norm, eval": (
        nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU()).eval(),
        (torch.randn(1, 3, 8, 8),),
        None,
    ),
    "conv and batch norm, train": (
        nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)).train(),
        (torch.randn(2, 3, 8, 8),),
        None,
    ),
    "lstm": (nn.LSTM(4, 5, batch_first=True), (torch.randn(2, 3, 4),), None),
    "gru, two layers": (nn.GRU(4, 5, 2, bidirectional=True), (torch.randn(2, 3, 4),), None),
    "cond": (Function(_branches), (torch.randn(3),), None),
    "while_loop": (Function(_loop), (torch.randn(3),), None),
    "map": (Function(_map), (torch.randn(3, 2), torch.randn(2)), None),
    "no_grad inside": (Function(_no_grad), (torch.randn(3),), None),
    "buffer mutation": (Cached(), (torch.randn(1, 2, 4), torch.tensor([1, 2])), None),
    "writes through views": (Views(), (torch.randn(3, 3),), None),
    "unbacked size": (Function(_item), (torch.randn(6, 2), torch.tensor([1])), None),
    "dynamic batch": (
        nn.Sequential(nn.Flatten(), nn.Linear(6, 3)),
        (torch.randn(4, 2, 3),),
        ({0: BATCH},),
    ),
    "dynamic, derived": (
        Function(lambda self, x, y: x + y[1:]),
        (torch.randn(4, 2), torch.randn(5, 2)),
        (({0: BATCH}, {0: BATCH + 1}),),
    ),
    "dynamic, as the author left it": (
        Function(lambda self, x: x.reshape(x.shape[0], -1).chunk(2, 1)),
        (torch.randn(4, 2, 3),),
        (({0: Dim.AUTO, 1: Dim.AUTO},),),
    ),
    "attention": (
        Function(lambda self, q, k: F.scaled_dot_product_attention(q, k, k)),
        (torch.randn(1, 2, 4, 8), torch.randn(1, 2, 4, 8)),
        None,
    ),
    "several results": (
        Function(lambda self, x: (*torch.max(x, 1), *torch.topk(x, 2), *x.split(2, 1))),
        (torch.randn(3, 5),),
        None,
    ),
    "a named tuple": (Function(lambda self, x: torch.max(x, 1)), (torch.randn(3, 5),), None),
    "a nested result": (
        Function(lambda self, x: {"a": [x + 1, (x * 2,)], "b": x}),
        (torch.randn(2),),
        None,
    ),
    "nested inputs": (
        Function(lambda self, pair: pair[0]["x"] + pair[1]),
        (({"x": torch.randn(2)}, torch.randn(2)),),
        None,
    ),
    "an int input": (Function(lambda self, x, n: x * n), (torch.randn(2), 3), None),
    "a literal tensor": (
        Function(lambda self, x: x + torch.tensor([1.0, 2.0])),
        (torch.randn(2),),
        None,
    ),
    "complex numbers": (
        Function(lambda self, x: torch.fft.rfft(x).abs()),
        (torch.randn(2, 8),),
        None,
    ),
    "channels last": (
        nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last),
        (torch.randn(1, 3, 8, 8).to(memory_format=torch.channels_last),),
        None,
    ),
    "expanded and transposed inputs": (
        Function(lambda self, x, y: x @ y),
        (torch.randn(1, 4).expand(3, 4), torch.randn(5, 4).t()),
        None,
    ),
    "half and bfloat16": (
        Function(lambda self, x, y: x.float() + y.float(), w=torch.ones(2, dtype=torch.bfloat16)),
        (torch.randn(2).half(), torch.randn(2).bfloat16()),
        None,
    ),
    "a size of zero, and a number": (
        Function(lambda self, x, y: torch.cat((x, x)) * y),
        (torch.randn(0, 3), torch.randn(())),
        None,
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_rebuilt_case_exports_to_the_same_program(kind, tmp_path):
    model, inputs, shapes = KINDS[kind]
    torch.manual_seed(0)
    program = torch.export.export(model, inputs, dynamic_shapes=shapes)
    _same(program, inputs, tmp_path, auto="author" in kind)


def test_a_quantised_program_is_rebuilt(tmp_path):
    pytest.importorskip("executorch")
    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
        XNNPACKQuantizer,
        get_symmetric_quantization_config,
    )
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    torch.manual_seed(0)
    inputs = (torch.randn(1, 3, 8, 8),)
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Conv2d(4, 2, 1)).eval()
    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config())
    prepared = prepare_pt2e(torch.export.export(model, inputs).module(), quantizer)
    prepared(*inputs)
    _same(torch.export.export(convert_pt2e(prepared), inputs), inputs, tmp_path)


def test_a_program_that_returns_its_mutations_writes_them_again(tmp_path):
    model, inputs, _ = KINDS["buffer mutation"]
    program = torch.export.export(model, inputs).run_decompositions()
    case = case_from_program(program, Recipe(), DataStore(tmp_path))
    targets = [node.target for node in case.graph.nodes]
    assert targets.count("aten.copy_.default") == 2
    export_case(case, DataStore(tmp_path))


def _same(program, inputs, folder, *, auto=False):
    data = DataStore(folder)
    case = case_from_program(program, Recipe(), data)
    if auto:  # as the search does when declared ranges do not hold
        case = replace(case, symbols=tuple(replace(item, auto=True) for item in case.symbols))
    case = text.loads(text.dumps(case))
    rebuilt = export_case(case, data)
    assert _targets(rebuilt) == _targets(program)
    leaves = pytree.tree_leaves(inputs)
    read = [item for item in case.graph.inputs if item.role == "input"]
    if len(read) != len(leaves):  # a number that export took as a constant
        leaves = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    want, got = program.module()(*_clones(inputs)), rebuilt.module()(*_clones(leaves))
    torch.testing.assert_close(got, want)
    assert pytree.tree_structure(got) == pytree.tree_structure(want)


def _clones(values):
    return torch.utils._pytree.tree_map(
        lambda leaf: leaf.clone() if isinstance(leaf, torch.Tensor) else leaf, tuple(values)
    )


def _targets(program):
    modules = [m for m in program.graph_module.modules() if isinstance(m, torch.fx.GraphModule)]
    return sorted(
        target_text(node.target)
        for module in modules
        for node in module.graph.nodes
        if node.op == "call_function"
    )
