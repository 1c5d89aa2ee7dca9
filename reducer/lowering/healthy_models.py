"""Which small models lower soundly, so that no pass may be blamed on them?

Of each kind of network one: what they lower to is compared when a compiler is changed, and no invariant
may be broken on the way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn


class Residual(nn.Module):
    """Convolutions with batch norm, and a sum of two branches."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8)
        self.conv2, self.bn2 = nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.head = nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        """Run it."""
        x = torch.relu(self.bn1(self.conv1(x)))
        x = torch.relu(x + self.bn2(self.conv2(x)))
        return self.head(x.mean((2, 3)))


class Attention(nn.Module):
    """Self-attention after a layer norm."""

    def __init__(self, dim: int = 16, heads: int = 2) -> None:
        super().__init__()
        self.heads, self.norm = heads, nn.LayerNorm(dim)
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x: Tensor) -> Tensor:
        """Run it."""
        batch, length, dim = x.shape
        qkv = self.qkv(self.norm(x)).view(batch, length, 3, self.heads, dim // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        y = nn.functional.scaled_dot_product_attention(q, k, v)
        return x + self.out(y.transpose(1, 2).reshape(batch, length, dim))


class Gated(nn.Module):
    """Linear layers that gate each other."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.gate = nn.Linear(8, 16), nn.Linear(8, 16)

    def forward(self, x: Tensor, scale: Tensor) -> Tensor:
        """Run it."""
        return (self.up(x) * torch.sigmoid(self.gate(x))).clamp(-1, 1) * scale


class Recurrent(nn.Module):
    """A recurrent cell, unrolled."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.RNNCell(4, 6)

    def forward(self, x: Tensor) -> Tensor:
        """Run it."""
        state = x.new_zeros(x.shape[1], 6)
        for step in x.unbind(0):
            state = self.cell(step, state)
        return state


class Pooled(nn.Module):
    """Pooling of both kinds, and a concatenation."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(2, 6, 3, stride=2, groups=2)
        self.act = nn.Hardswish()

    def forward(self, x: Tensor) -> Tensor:
        """Run it."""
        x = nn.functional.max_pool2d(self.act(self.conv(x)), 2)
        return torch.cat(
            [x, nn.functional.avg_pool2d(x, 2).repeat(1, 1, 2, 2)[..., : x.shape[2], : x.shape[3]]],
            1,
        )


class Embedded(nn.Module):
    """A table of embeddings."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.out = nn.Embedding(10, 8), nn.Linear(8, 3)

    def forward(self, tokens: Tensor) -> Tensor:
        """Run it."""
        return self.out(self.table(tokens)).softmax(-1)


class Counting(nn.Module):
    """Writes to a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(4))

    def forward(self, x: Tensor) -> Tensor:
        """Run it."""
        self.seen.add_(x.mean(0))
        return x - self.seen


class Resized(nn.Module):
    """An image made larger, and padded."""

    def forward(self, x: Tensor) -> Tensor:
        """Run it."""
        y = nn.functional.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
        return nn.functional.pad(y, (1, 1, 1, 1))


class Split(nn.Module):
    """Several outputs of an operator, and of the model."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Run it."""
        a, b, c = torch.split(x, 4, dim=-1)
        values, places = torch.topk(a, 2)
        return a * b - c, values, places


class Convolved(nn.Module):
    """One dimension, and a transposed convolution."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.back = nn.Conv1d(4, 6, 3), nn.ConvTranspose2d(6, 2, 2, stride=2)

    def forward(self, x: Tensor) -> Tensor:
        """Run it."""
        return self.back(torch.tanh(self.conv(x)).unsqueeze(-1))


class Normalised(nn.Module):
    """Constants in the graph, keyword arguments, in-place operators."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(2, 4)

    def forward(self, x: Tensor) -> Tensor:
        """Run it."""
        shift = torch.tensor([0.5, 1.0, 1.5, 2.0]).view(1, 4, 1, 1)
        x = self.norm(x).mul_(2.0)
        return torch.where(x > 0, x, x * 0.1) + shift


#: name -> (model, example inputs, dynamic shapes or None); the names are in ``core/healthy.py`` as well.
MODELS: dict[str, Callable[[], tuple[nn.Module, tuple[Tensor, ...], Any]]] = {
    "residual": lambda: (Residual().eval(), (torch.randn(1, 3, 8, 8),), None),
    "attention": lambda: (Attention().eval(), (torch.randn(1, 6, 16),), None),
    "gated": lambda: (Gated().eval(), (torch.randn(2, 8), torch.randn(1)), None),
    "gated-dynamic": lambda: (
        Gated().eval(),
        (torch.randn(3, 8), torch.randn(1)),
        ({0: torch.export.Dim("n", min=2, max=64)}, None),
    ),
    "recurrent": lambda: (Recurrent().eval(), (torch.randn(3, 2, 4),), None),
    "pooled": lambda: (Pooled().eval(), (torch.randn(1, 2, 17, 17),), None),
    "embedded": lambda: (Embedded().eval(), (torch.tensor([[1, 2, 9]]),), None),
    "counting": lambda: (Counting().eval(), (torch.randn(3, 4),), None),
    "resized": lambda: (Resized().eval(), (torch.randn(1, 2, 4, 4),), None),
    "split": lambda: (Split().eval(), (torch.randn(2, 12),), None),
    "convolved": lambda: (Convolved().eval(), (torch.randn(1, 4, 9),), None),
    "normalised": lambda: (Normalised().eval(), (torch.randn(1, 4, 3, 3),), None),
    "channels-last": lambda: (
        Residual().eval(),
        (torch.randn(1, 3, 8, 8).to(memory_format=torch.channels_last),),
        None,
    ),
}


def made(name: str) -> tuple[nn.Module, tuple[Tensor, ...], Any]:
    """A model with its example inputs and dynamic shapes, the same numbers every time."""
    torch.manual_seed(0)
    return MODELS[name]()
