"""Small cases, built by hand."""

from __future__ import annotations

from collections.abc import Mapping

from reducer.core.case import Argument, Case, Graph, Input, Node, Ref, Spec, TensorSpec
from reducer.core.recipe import Construct, Recipe

F32 = TensorSpec((2, 3), "float32")

SCHEMAS = {
    "aten.add.Tensor": "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    "aten.mul.Tensor": "aten::mul.Tensor(Tensor self, Tensor other) -> Tensor",
    "aten.relu.default": "aten::relu(Tensor self) -> Tensor",
    "aten.sin.default": "aten::sin(Tensor self) -> Tensor",
    "aten.add_.Tensor": (
        "aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)"
    ),
    "aten.select.int": "aten::select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)",
    "aten.max.dim": (
        "aten::max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)"
    ),
    "aten.chunk.default": (
        "aten::chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]"
    ),
    "aten.linear.default": (
        "aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor"
    ),
    "aten.batch_norm.default": (
        "aten::batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, "
        "Tensor? running_var, bool training, float momentum, float eps, bool cudnn_enabled) "
        "-> Tensor"
    ),
    "aten.zeros.default": (
        "aten::zeros(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, "
        "Device? device=None, bool? pin_memory=None) -> Tensor"
    ),
    "aten.reshape.default": "aten::reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)",
    "aten.lift_fresh_copy.default": "aten::lift_fresh_copy(Tensor self) -> Tensor",
    "aten.detach_.default": "aten::detach_(Tensor(a!) self) -> Tensor(a!)",
    "aten._assert_scalar.default": "aten::_assert_scalar(Scalar self, str assert_msg) -> ()",
    "aten.item.default": "aten::item(Tensor self) -> Scalar",
    "aten.sym_size.int": "aten::sym_size.int(Tensor self, int dim) -> SymInt",
}


def given(name: str = "x", spec: Spec = F32) -> Input:
    """A model input."""
    return Input(name, "input", spec)


def call(name: str, target: str, *args: Argument, **kwargs: Argument) -> Node:
    """An operator call; text starting with ``%`` is a reference."""
    return Node(
        name, target, tuple(map(refer, args)), tuple((k, refer(v)) for k, v in kwargs.items())
    )


def refer(value: Argument) -> Argument:
    """``%x`` as a reference, inside tuples too."""
    if isinstance(value, tuple):
        return tuple(map(refer, value))
    return Ref(value[1:]) if isinstance(value, str) and value.startswith("%") else value


def case(
    nodes: tuple[Node, ...],
    *outputs: Argument,
    inputs: tuple[Input, ...] = (),
    subgraphs: Mapping[str, Graph] | None = None,
) -> Case:
    """A case for Vulkan."""
    path = "executorch.backends.vulkan.partitioner.vulkan_partitioner:VulkanPartitioner"
    return Case(
        Graph(inputs or (given(),), nodes, tuple(map(refer, outputs))),
        Recipe("vulkan", (Construct(path),)),
        subgraphs=tuple((subgraphs or {}).items()),
        schemas=SCHEMAS,
    )
