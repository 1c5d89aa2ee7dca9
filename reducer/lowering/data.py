"""Where are the numbers of tensors that a case does not spell out?

A :class:`DataStore` is a folder of files named by digest. Two tensors of equal dtype, shape and
numbers are one file, so a resumed or repeated capture writes nothing.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import torch
from safetensors.torch import load_file, save

from reducer.core.case import Fill
from reducer.lowering.errors import SubjectError

#: Tensors of at most this many elements are written into the case itself.
LITERAL_ELEMENTS = 64


class DataStore:
    """A folder of tensors by digest."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def fill(self, tensor: torch.Tensor) -> Fill:
        """How to write down the tensor's numbers; stores them if they are many and irregular.

        Raises SubjectError for a tensor without numbers.
        """
        if tensor.is_meta:
            raise SubjectError(
                "the program holds tensors on the meta device, which have no numbers",
                hint='make model and inputs on the CPU: without torch.set_default_device("meta") or'
                ' device="meta"; or give them numbers with model.to_empty(device="cpu")',
            )
        plain = tensor.detach().cpu()
        if plain.numel() == 0:
            return Fill("zeros")
        if plain.is_quantized or plain.layout is not torch.strided:
            raise ValueError(f"tensors of layout {plain.layout} cannot be stored")
        if plain.dtype in _LITERAL_DTYPES:
            first = plain[(0,) * plain.dim()].item()
            for kind, value in (("zeros", 0), ("ones", 1)):
                # Most tensors are told apart by one number.
                if first == value and torch.equal(plain, torch.full_like(plain, value)):
                    return Fill(kind)
            if plain.numel() <= LITERAL_ELEMENTS:
                return Fill("literal", values=tuple(plain.contiguous().reshape(-1).tolist()))
        return Fill("data", digest=self._store(plain.contiguous()))

    def load(self, digest: str) -> torch.Tensor:
        """The stored tensor. Raises FileNotFoundError."""
        return load_file(self.folder / f"{digest}.safetensors")["data"]

    def _store(self, tensor: torch.Tensor) -> str:
        content = save({"data": tensor.clone() if tensor._is_view() else tensor})
        digest = hashlib.sha256(content).hexdigest()
        path = self.folder / f"{digest}.safetensors"
        if not path.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            scratch = path.with_suffix(f".{os.getpid()}.part")
            scratch.write_bytes(content)
            os.replace(scratch, path)
        return digest


# float8 and friends have no exact literal that torch.tensor takes.
_LITERAL_DTYPES = frozenset(
    {
        torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.bool, torch.uint8,
        torch.int8, torch.int16, torch.int32, torch.int64, torch.complex64, torch.complex128,
    }
)  # fmt: skip
