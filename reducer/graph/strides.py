"""Which strides does a tensor of another shape have if it is laid out alike?"""

from __future__ import annotations

from dataclasses import replace

from reducer.core.case import Size, TensorSpec


def resized(spec: TensorSpec, shape: tuple[Size, ...]) -> TensorSpec:
    """The spec with another shape of equal rank: axes stay in their order of memory, without gaps.

    >>> resized(TensorSpec((1, 3, 8, 8), "float32", (192, 1, 24, 3)), (1, 3, 2, 2)).stride
    (12, 1, 6, 3)
    """
    if shape == spec.shape:
        return spec
    if spec.stride is None or not all(isinstance(item, int) for item in (*shape, *spec.stride)):
        return replace(spec, shape=shape, stride=None)
    order = sorted(range(len(shape)), key=lambda axis: (-int(spec.stride[axis]), axis))  # type: ignore[index]
    strides, step = [0] * len(shape), 1
    for axis in reversed(order):
        if spec.stride[axis] != 0:
            strides[axis] = step
            step *= int(shape[axis])
    contiguous = strides == contiguous_strides([int(size) for size in shape])
    return replace(spec, shape=shape, stride=None if contiguous else tuple(strides))


def contiguous_strides(shape: list[int]) -> list[int]:
    """Row-major strides in elements.

    >>> contiguous_strides([2, 3, 4])
    [12, 4, 1]
    """
    strides, step = [0] * len(shape), 1
    for axis in reversed(range(len(shape))):
        strides[axis] = step
        step *= max(1, shape[axis])
    return strides
