"""A vision transformer's front end with a sine position table: Vulkan lowering of it fails.

Lower it by hand and the error names FuseBatchNormPass, though there is no batch norm::

    reduce position_table.py --backend vulkan
"""

import torch
from torch import nn


class Positions(nn.Module):
    """A table of sines and cosines, computed from constants only."""

    def __init__(self, tokens: int, dim: int) -> None:
        super().__init__()
        self.tokens, self.dim = tokens, dim

    def forward(self) -> torch.Tensor:
        """The table, shape (tokens, dim)."""
        steps = torch.arange(self.dim // 2, dtype=torch.float32)
        frequency = 10000.0 ** (2 * torch.div(steps, 2, rounding_mode="floor") / self.dim)
        angle = torch.arange(self.tokens, dtype=torch.float32)[:, None] / frequency
        return torch.cat((angle.sin(), angle.cos()), 1)


class PatchEncoder(nn.Module):
    """Patches, positions, two transformer layers and a classifier."""

    def __init__(self, dim: int = 64, classes: int = 10) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, dim, 16, 16)
        self.positions = Positions(16, dim)
        layer = nn.TransformerEncoderLayer(dim, 4, 2 * dim, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(dim, classes)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        """Class scores, shape (batch, classes)."""
        tokens = self.patches(image).flatten(2).transpose(1, 2) + self.positions()
        return self.head(self.encoder(tokens).mean(1))


torch.manual_seed(0)
model = PatchEncoder().eval()
example_inputs = (torch.randn(1, 3, 64, 64),)
