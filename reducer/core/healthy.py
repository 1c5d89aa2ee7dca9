"""Which models are known to lower soundly, by name? The models are in ``lowering/healthy_models.py``."""

from __future__ import annotations

HEALTHY = (
    "residual", "attention", "gated", "gated-dynamic", "recurrent", "pooled", "embedded", "counting",
    "resized", "split", "convolved", "normalised", "channels-last",
)  # fmt: skip

#: The backends that need nothing but executorch, for which each of them is lowered.
HEALTHY_FOR = ("vulkan", "xnnpack", "portable")

#: Portable kernels have no batch norm for channels-last numbers.
_NOT = {("channels-last", "portable")}

#: (model, backend), those of a backend side by side.
HEALTHY_PAIRS = tuple(
    (model, backend) for backend in HEALTHY_FOR for model in HEALTHY if (model, backend) not in _NOT
)
