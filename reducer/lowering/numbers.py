"""Are these the expected numbers, up to rounding? If not: in which way, and how far off?

The way is what makes two mismatches the same one, so it is said in words; numbers are for the reader.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

#: (absolute, relative to the largest number expected) by dtype: what sound kernels differ by.
_TOLERANCES = {
    torch.float64: (1e-4, 1e-3),
    torch.float32: (1e-4, 1e-3),
    torch.float16: (1e-3, 1e-2),
    torch.bfloat16: (1e-2, 3e-2),
    torch.complex64: (1e-4, 1e-3),
    torch.uint8: (1.0, 0.0),
    torch.int8: (1.0, 0.0),
}
#: Of a quantised program: sound ones differ by under one percent.
_QUANTISED = (1e-3, 3e-2)
#: From this factor on a number is of another magnitude.
_MAGNITUDE = 1000.0


@dataclass(frozen=True)
class Tolerance:
    """What counts as rounding. ``rtol`` and ``atol`` None: by dtype; looser for quantised programs."""

    rtol: float | None = None
    atol: float | None = None
    quantised: bool = False

    def of(self, dtype: torch.dtype, scale: float) -> float:
        """The largest difference that counts as rounding where numbers are at most ``scale``."""
        atol, rtol = _TOLERANCES.get(dtype, (0.0, 0.0))
        if self.quantised and (dtype.is_floating_point or dtype.is_complex):
            atol, rtol = max(atol, _QUANTISED[0]), max(rtol, _QUANTISED[1])
        atol = atol if self.atol is None else self.atol
        rtol = rtol if self.rtol is None else self.rtol
        return atol + rtol * scale


class WrongNumbers(AssertionError):
    """The ``.pte`` runs and returns something else, by ``excess`` times what is ``allowed``."""

    def __init__(self, message: str, allowed: float = 0.0, excess: float = math.inf) -> None:
        super().__init__(message)
        self.allowed = allowed
        self.excess = excess


def compare(expected: Sequence[Any], outputs: Sequence[Any], tolerance: Tolerance) -> None:
    """Raise WrongNumbers for the output that is furthest off, if any is."""
    if len(expected) != len(outputs):
        raise WrongNumbers(f"{len(outputs)} outputs instead of {len(expected)}")
    found = [
        mismatch
        for want, got in zip(expected, outputs, strict=True)
        if isinstance(want, torch.Tensor) and isinstance(got, torch.Tensor)
        if (mismatch := _mismatch(want, got, tolerance)) is not None
    ]
    if found:
        raise max(found, key=lambda mismatch: mismatch.excess)


def _mismatch(want: torch.Tensor, got: torch.Tensor, tolerance: Tolerance) -> WrongNumbers | None:
    if want.shape != got.shape:
        return WrongNumbers(f"an output has another shape: {got.shape} instead of {want.shape}")
    if want.dtype != got.dtype:
        return WrongNumbers(f"an output has another dtype: {got.dtype} instead of {want.dtype}")
    if want.numel() == 0:
        return None
    dtype = want.dtype
    want, got = _real(want), _real(got)
    for name, is_so in (("nan", torch.isnan), ("infinity", torch.isinf)):
        if bool((is_so(got) & ~is_so(want)).any()):
            return WrongNumbers(f"an output has {name} where other numbers are expected")
    finite = want.isfinite()
    if not bool(got[~finite].isfinite().logical_not().all()):
        return WrongNumbers("an output has numbers where nan or infinity is expected")
    want, got = want[finite], got[finite]
    if want.numel() == 0:
        return None
    scale, off = want.abs().max().item(), (got - want).abs().max().item()
    allowed = tolerance.of(dtype, scale)
    if off <= allowed:
        return None
    excess = off / allowed if allowed else math.inf
    return WrongNumbers(
        f"an output has other numbers{_way(want, got, allowed)}\n"
        f"off by {off:.3g} where at most {scale:.3g} is expected, and {allowed:.3g} is rounding",
        allowed,
        excess,
    )


def _way(want: torch.Tensor, got: torch.Tensor, allowed: float) -> str:
    """In which special way the numbers differ, "" if in none."""
    largest, expected = got.abs().max().item(), want.abs().max().item()
    if largest == 0:
        return ", all zeros"
    if (got + want).abs().max().item() <= allowed:
        return ", with the opposite sign"
    if largest > _MAGNITUDE * expected:
        return ", far too large"
    if largest * _MAGNITUDE < expected:
        return ", far too small"
    return ""


def _real(tensor: torch.Tensor) -> torch.Tensor:
    plain = tensor.detach()
    return torch.view_as_real(plain.to(torch.complex128)) if plain.is_complex() else plain.double()
