"""Which backends are there, and which one does a name mean?

The first table has a file per backend, imported on use. The second lists the other partitioners of
executorch's wheel, as far as :class:`Backend`'s defaults describe them; one that needs more gets a
file.
"""

from __future__ import annotations

import difflib
from importlib import import_module

from reducer.core.recipe import Construct, Plain
from reducer.core.wire import Backends
from reducer.lowering.backends.backend import Backend
from reducer.lowering.errors import SubjectError

_FILES: dict[str, str] = {
    "vulkan": "reducer.lowering.backends.vulkan",
    "webgpu": "reducer.lowering.backends.webgpu",
    "xnnpack": "reducer.lowering.backends.xnnpack",
    "portable": "reducer.lowering.backends.portable",
}

#: name: (partitioner below ``executorch.backends``, what makes it usable)
_OTHERS: dict[str, tuple[str, str]] = {
    "coreml": ("apple.coreml.partition.coreml_partitioner:CoreMLPartitioner", "coremltools"),
    "coreai": ("apple.coreai.partition.partitioner:CoreAIPartitioner", "Apple's Core AI tools"),
    "metal": ("apple.metal.metal_partitioner:MetalPartitioner", "macOS"),
    "mlx": ("mlx.partitioner:MLXPartitioner", "executorch built with MLX"),
    "qualcomm": ("qualcomm.partition.qnn_partitioner:QnnPartitioner", "Qualcomm's QNN SDK"),
    "ethosu": ("arm.ethosu.partitioner:EthosUPartitioner", "tosa-tools and ethos-u-vela"),
    "vgf": ("arm.vgf.partitioner:VgfPartitioner", "tosa-tools"),
    "openvino": ("openvino.partitioner:OpenvinoPartitioner", "openvino and nncf"),
    "samsung": ("samsung.partition.enn_partitioner:EnnPartitioner", "Samsung's Exynos SDK"),
    "mediatek": ("mediatek.partitioner:NeuropilotPartitioner", "MediaTek's NeuroPilot SDK"),
    "nxp": ("nxp.neutron_partitioner:NeutronPartitioner", "NXP's eIQ Neutron SDK"),
    "cuda": ("cuda.cuda_partitioner:CudaPartitioner", "triton and CUDA"),
    "native": ("native.partitioner:NativePartitioner", "a later executorch"),
}

NAMES: tuple[str, ...] = (*_FILES, *_OTHERS)


def find(name: str) -> Backend:
    """The backend that ``--backend name`` means: a listed one, or any ``package.module:Class``.

    Raises SubjectError for a name that is neither.
    """
    if name in _FILES:
        found: Backend = import_module(_FILES[name]).BACKEND
        return found
    if name in _OTHERS:
        path, needs = _OTHERS[name]
        return Backend(name, f"executorch.backends.{path}", needs=needs)
    if ":" in name:
        return Backend(name, name)
    close = difflib.get_close_matches(name, NAMES, n=1)
    raise SubjectError(
        f"no backend is called {name!r}" + (f"; did you mean {close[0]!r}?" if close else ""),
        hint=f"one of {', '.join(_FILES)}, others from `reduce backends`, or package.module:Class",
    )


def construct(name: str, options: tuple[tuple[str, Plain], ...] = ()) -> tuple[Construct, ...]:
    """Constructor calls of the partitioners of a backend under ``options``. Raises SubjectError."""
    return find(name).constructs(options)


def name_of(partitioners: tuple[Construct, ...]) -> str:
    """The name under which a list of partitioners is reported; their paths where none is listed."""
    listed = {find(name).partitioner: name for name in NAMES}
    return "+".join(listed.get(item.path, item.path) for item in partitioners) or "portable"


def status(*, few: bool = False) -> Backends:
    """Every listed backend, usable here or not, and why. Imports all of them: seconds.

    ``few``: those with a file of their own, which a warm worker has mostly imported already.
    """
    return Backends(tuple(find(name).status() for name in (_FILES if few else NAMES)))
