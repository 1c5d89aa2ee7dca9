"""On what does this run, in the form in which ``torch.utils.collect_env`` tells it?

Only what a lowering depends on: no processor, no driver, no compiler, and no package that the world does
not know.
"""

from __future__ import annotations

import platform
import sys
from importlib import metadata

import torch
from torch.utils import collect_env

#: Packages that take part in a lowering, or that a backend is made of.
_PACKAGES = (
    "coremltools", "executorch", "nncf", "numpy", "openvino", "sympy", "torch", "torchao",
)  # fmt: skip


def versions() -> tuple[str, ...]:
    """Lines of the report, in collect_env's words and order."""
    run = collect_env.run
    bits = sys.maxsize.bit_length() + 1
    return (
        f"PyTorch version: {torch.__version__}",
        f"Is debug build: {torch.version.debug}",
        f"CUDA used to build PyTorch: {torch.version.cuda or 'Could not collect'}",
        "",
        f"OS: {collect_env.get_os(run)}",
        f"Libc version: {collect_env.get_libc_version()}",
        "",
        f"Python version: {' '.join(sys.version.split())} ({bits}-bit runtime)",
        f"Python platform: {platform.system()}-{platform.machine()}",
        f"Is CUDA available: {torch.cuda.is_available()}",
        "",
        "Versions of relevant libraries:",
        *(f"[pip3] {name}=={found}" for name in _PACKAGES if (found := _version(name))),
    )


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""
