"""How is a tensor with a given shape, dtype, layout and content made in one expression?"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence

from reducer.core.case import Fill, Size, TensorSpec
from reducer.emit.literal import number
from reducer.emit.sizes import evaluate

#: Longest tensor that is written out in ``forward``.
LITERAL_LIMIT = 64

_FLOATING = ("float", "bfloat", "complex")
#: What ``torch.randn`` and ``torch.randint`` can draw; others are converted.
_DRAWN = {"float16", "bfloat16", "float32", "float64", "complex64", "complex128"}
_INTEGERS = {"int8", "uint8", "int16", "int32", "int64", "bool"}


def tensor_text(
    spec: TensorSpec, fill: Fill, hints: Mapping[str, int] | None = None, stored: str = ""
) -> str:
    """An expression that makes the tensor; ``stored`` is where a tensor kept as data is found.

    >>> tensor_text(TensorSpec((2, 3), "float32"), Fill("zeros"))
    'torch.zeros(2, 3)'
    >>> tensor_text(TensorSpec((3,), "int64"), Fill("literal", values=(1, 2, 3)))
    'torch.tensor([1, 2, 3])'
    >>> tensor_text(TensorSpec((1, 2, 3, 4), "float32", (24, 1, 8, 2)), Fill("random"))
    'torch.randn(1, 2, 3, 4).to(memory_format=torch.channels_last)'
    >>> tensor_text(TensorSpec((2, 3), "float16", (1, 2)), Fill("ones"))
    'torch.ones(3, 2, dtype=torch.float16).t()'
    >>> tensor_text(TensorSpec((), "float32"), Fill("zeros"))
    'torch.tensor(0.0)'
    >>> tensor_text(TensorSpec((2, 3), "float32"), Fill("full", values=(10,)))
    'torch.full((2, 3), 10.0)'
    """
    shape = tuple(evaluate(size, hints or {}) for size in spec.shape)
    stride = None
    if spec.stride is not None:
        stride = tuple(evaluate(size, hints or {}) for size in spec.stride)
    if fill.kind == "data" and not stored:
        fill = Fill("zeros")
    if stride is None or 0 in shape:
        return stored if fill.kind == "data" else _filled(shape, spec.dtype, fill)
    return _strided(shape, stride, spec.dtype, fill, stored)


def is_floating(dtype: str) -> bool:
    """Whether numbers of this dtype have a fraction: only those can require a gradient."""
    return dtype.startswith(_FLOATING)


def literal_text(spec: TensorSpec, fill: Fill) -> str:
    """``torch.tensor(...)`` with all values written out; "" if they are too many or not known."""
    shape = tuple(size for size in spec.shape if isinstance(size, int))
    if len(shape) != len(spec.shape) or spec.elements > LITERAL_LIMIT or spec.stride is not None:
        return ""
    if fill.kind in ("zeros", "ones", "full"):
        value = fill.values[0] if fill.kind == "full" else int(fill.kind == "ones")
        values: Sequence[complex] = [value] * spec.elements
    elif fill.kind == "literal" and len(fill.values) == spec.elements:
        values = fill.values
    else:
        return ""
    if 0 in shape and shape != (0,):
        return ""
    return _literal(shape, spec.dtype, values)


def _strided(
    shape: tuple[int, ...], stride: tuple[int, ...], dtype: str, fill: Fill, stored: str
) -> str:
    # other numbers in another order are as good; written or stored ones have an order
    any_order = fill.is_generated
    filled = stored if fill.kind == "data" else _filled(shape, dtype, fill)
    if any_order and any(step == 0 and size > 1 for size, step in zip(shape, stride, strict=True)):
        base = tuple(1 if step == 0 else size for size, step in zip(shape, stride, strict=True))
        return f"{_filled(base, dtype, fill)}.expand({', '.join(map(str, shape))})"
    for rank, name in ((4, "channels_last"), (5, "channels_last_3d")):
        if len(shape) == rank and stride == _channels_last(shape):
            return f"{filled}.to(memory_format=torch.{name})"
    order = sorted(range(len(shape)), key=lambda dim: (-stride[dim], -shape[dim]))
    base = tuple(shape[dim] for dim in order)
    if any_order and _contiguous(base) == tuple(stride[dim] for dim in order):
        return f"{_filled(base, dtype, fill)}{_permuted(order)}"
    made = f"torch.empty_strided({shape}, {stride}, dtype=torch.{dtype})"
    return f"{made}.copy_({filled})"


def _permuted(order: Sequence[int]) -> str:
    """The method that undoes ``order``: ``.t()``, ``.transpose(1, 2)`` or ``.permute(...)``."""
    back = [order.index(dim) for dim in range(len(order))]
    moved = [dim for dim, source in enumerate(back) if dim != source]
    if len(moved) == 2:
        return ".t()" if len(back) == 2 else f".transpose({moved[0]}, {moved[1]})"
    return f".permute({', '.join(map(str, back))})"


def _channels_last(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides that ``.to(memory_format=torch.channels_last)`` gives: channels vary fastest."""
    stride, step = [0] * len(shape), 1
    for dim in (1, *range(len(shape) - 1, 1, -1), 0):
        stride[dim] = step
        step *= shape[dim]
    return tuple(stride)


def _contiguous(shape: Sequence[Size]) -> tuple[int, ...]:
    stride, step = [], 1
    for size in reversed(shape):
        stride.append(step)
        step *= int(size)
    return tuple(reversed(stride))


def _filled(shape: tuple[int, ...], dtype: str, fill: Fill) -> str:
    sizes = ", ".join(map(str, shape)) if shape else "()"
    if fill.kind == "literal":
        return _literal(shape, dtype, fill.values)
    if fill.kind == "random":
        return _random(shape, sizes, dtype)
    if fill.kind == "full" and shape:
        one_number = number(_typed(fill.values[0], dtype)).text
        usual = "float32" if is_floating(dtype) else "int64"
        return f"torch.full({_tuple(shape)}, {one_number}{_option(dtype, usual)})"
    if fill.kind == "full":
        return _literal((), dtype, fill.values)
    one = fill.kind == "ones"
    if not shape:
        return _literal((), dtype, [int(one)])
    return f"torch.{'ones' if one else 'zeros'}({sizes}{_option(dtype, 'float32')})"


def _random(shape: tuple[int, ...], sizes: str, dtype: str) -> str:
    if dtype in _DRAWN:
        return f"torch.randn({sizes}{_option(dtype, 'float32')})"
    if is_floating(dtype):
        return f"torch.randn({sizes}).to(torch.{dtype})"
    if dtype in _INTEGERS:
        return f"torch.randint(0, 2, {_tuple(shape)}{_option(dtype, 'int64')})"
    return f"torch.randint(0, 2, {_tuple(shape)}).to(torch.{dtype})"


def _literal(shape: tuple[int, ...], dtype: str, values: Sequence[complex]) -> str:
    if 0 in shape:
        return f"torch.zeros({', '.join(map(str, shape))}{_option(dtype, 'float32')})"
    typed = [_typed(value, dtype) for value in values]
    usual = {float: "float32", int: "int64", bool: "bool", complex: "complex64"}[type(typed[0])]
    option = _option(dtype, usual)
    if len(set(map(repr, typed))) == 1 and len(typed) > 8:
        return f"torch.full({_tuple(shape)}, {number(typed[0]).text}{option})"
    return f"torch.tensor({_nested(shape, typed)}{option})"


def _typed(value: complex, dtype: str) -> complex | float | int | bool:
    if dtype == "bool":
        return bool(value)
    if dtype.startswith("complex"):
        return complex(value)
    real = value.real if isinstance(value, complex) else value
    return shortest(float(real), dtype) if is_floating(dtype) else int(real)


def shortest(value: float, dtype: str) -> float:
    """The number with the fewest digits that the dtype rounds to the same.

    >>> shortest(0.10000000149011612, "float32"), shortest(0.1, "float64")
    (0.1, 0.1)
    """
    code = {"float32": "f", "float16": "e"}.get(dtype)
    if code is None or not math.isfinite(value):
        return value
    exact = struct.pack(code, value)
    for digits in range(1, 10):
        candidate = float(f"{value:.{digits}g}")
        try:
            if struct.pack(code, candidate) == exact:
                return candidate
        except OverflowError:  # rounded up beyond the largest number
            continue
    return value


def _nested(shape: tuple[int, ...], values: Sequence[complex]) -> str:
    if not shape:
        return number(values[0]).text
    step = len(values) // shape[0]
    rows = [_nested(shape[1:], values[i * step : (i + 1) * step]) for i in range(shape[0])]
    return f"[{', '.join(rows)}]"


def _tuple(shape: tuple[int, ...]) -> str:
    return f"({shape[0]},)" if len(shape) == 1 else f"({', '.join(map(str, shape))})"


def _option(dtype: str, usual: str) -> str:
    return "" if dtype == usual else f", dtype=torch.{dtype}"
