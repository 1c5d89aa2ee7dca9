"""Is a resized tensor laid out as before?"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reducer.core.case import TensorSpec
from reducer.graph.strides import contiguous_strides, resized

SHAPES = st.lists(st.integers(1, 7), max_size=5)


@st.composite
def permuted(draw: st.DrawFn) -> tuple[TensorSpec, list[int]]:
    """A dense tensor whose axes lie in memory in some order, outermost first."""
    shape = draw(SHAPES)
    order = draw(st.permutations(range(len(shape))))
    stride, step = [0] * len(shape), 1
    for axis in reversed(order):
        stride[axis], step = step, step * shape[axis]
    own = None if stride == contiguous_strides(shape) else tuple(stride)
    return TensorSpec(tuple(shape), "float32", own), list(order)


@given(permuted(), st.data())
def test_axes_stay_in_their_order_of_memory_without_gaps(
    drawn: tuple[TensorSpec, list[int]], data: st.DataObject
) -> None:
    spec, _ = drawn
    shape = data.draw(
        st.lists(st.integers(2, 7), min_size=len(spec.shape), max_size=len(spec.shape))
    )
    new = resized(spec, tuple(shape))
    assert new.shape == tuple(shape)
    strides = new.stride or tuple(contiguous_strides(shape))
    covered = sorted(zip(strides, shape, strict=True))
    step = 1
    for stride, size in covered:  # dense: each axis steps over exactly the smaller ones
        assert stride == step
        step *= size
    if spec.stride is not None and all(size > 1 for size in spec.shape if isinstance(size, int)):
        before = sorted(range(len(shape)), key=lambda axis: spec.stride[axis])  # type: ignore[index]
        assert before == sorted(range(len(shape)), key=lambda axis: strides[axis])


@given(st.lists(st.tuples(st.integers(1, 7), st.integers(1, 7)), max_size=5))
def test_contiguous_stays_contiguous(sizes: list[tuple[int, int]]) -> None:
    old, new = tuple(size[0] for size in sizes), tuple(size[1] for size in sizes)
    assert resized(TensorSpec(old, "float32"), new) == TensorSpec(new, "float32")


@given(permuted())
def test_an_equal_shape_changes_nothing(drawn: tuple[TensorSpec, list[int]]) -> None:
    spec, _ = drawn
    assert resized(spec, spec.shape) is spec


def test_an_expanded_axis_stays_expanded() -> None:
    spec = TensorSpec((4, 3), "float32", (0, 1))
    assert resized(spec, (2, 2)).stride == (0, 1)


def test_symbolic_sizes_forget_strides() -> None:
    spec = TensorSpec((4, 3), "float32", (1, 4))
    assert resized(spec, ("s0", 3)) == TensorSpec(("s0", 3), "float32")
