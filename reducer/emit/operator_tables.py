"""Which operators have an ordinary spelling that their name alone does not give? Data only.

A wrong row costs one question to the worker: what does not export to the wanted operator is spelled
another way (:mod:`reducer.emit.settle`). A row that swaps arguments would not be noticed there, so
rows of ``REORDERED`` are tested against torch's signatures.
"""

from __future__ import annotations

#: Operators on tensors, by target.
INFIX = {
    f"aten.{name}.{overload}": sign
    for name, sign, overloads in (
        ("add", "+", "Tensor Scalar"), ("sub", "-", "Tensor Scalar"), ("mul", "*", "Tensor Scalar"),
        ("div", "/", "Tensor Scalar"), ("remainder", "%", "Tensor Scalar Scalar_Tensor"),
        ("floor_divide", "//", "default Scalar"), ("matmul", "@", "default"),
        ("pow", "**", "Tensor_Scalar Tensor_Tensor Scalar"),
        ("eq", "==", "Tensor Scalar"), ("ne", "!=", "Tensor Scalar"), ("lt", "<", "Tensor Scalar"),
        ("le", "<=", "Tensor Scalar"), ("gt", ">", "Tensor Scalar"), ("ge", ">=", "Tensor Scalar"),
        ("bitwise_and", "&", "Tensor Scalar"), ("bitwise_or", "|", "Tensor Scalar"),
        ("bitwise_xor", "^", "Tensor Scalar"),
        ("__and__", "&", "Tensor Scalar"), ("__or__", "|", "Tensor Scalar"),
        ("__xor__", "^", "Tensor Scalar"),
        ("__lshift__", "<<", "Tensor Scalar"), ("__rshift__", ">>", "Tensor Scalar"),
    )
    for overload in overloads.split()
}  # fmt: skip

PREFIX = {"aten.neg.default": "-", "aten.bitwise_not.default": "~", "operator:neg": "-"}

#: Operators on numbers: functions of the module ``operator``.
SCALAR_INFIX = {
    "operator:add": "+", "operator:sub": "-", "operator:mul": "*", "operator:truediv": "/",
    "operator:floordiv": "//", "operator:mod": "%", "operator:pow": "**", "operator:eq": "==",
    "operator:ne": "!=", "operator:lt": "<", "operator:le": "<=", "operator:gt": ">",
    "operator:ge": ">=", "operator:and_": "&", "operator:or_": "|", "operator:xor": "^",
    "operator:lshift": "<<", "operator:rshift": ">>",
}  # fmt: skip

#: Operators whose method reads better than the function of ``torch``.
METHODS = frozenset(
    "all any argmax argmin amax amin chunk clamp clone contiguous copy_ cumsum detach "
    "diagonal expand expand_as fill_ flatten flip gather index_add index_copy index_fill "
    "index_select item log_softmax masked_fill masked_select max mean min movedim mT narrow "
    "norm nonzero numel permute prod repeat repeat_interleave reshape reshape_as resolve_conj "
    "scatter scatter_add select softmax sort split split_with_sizes squeeze std sum swapaxes "
    "t to tolist topk transpose tril triu type_as unbind unflatten unfold unsqueeze var view "
    "view_as".split()
)

#: Functions of ``torch.nn.functional`` with the operator's arguments in the operator's order.
FUNCTIONAL = frozenset(
    "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d avg_pool1d avg_pool2d "
    "avg_pool3d bilinear celu channel_shuffle conv1d conv2d conv3d conv_transpose1d "
    "conv_transpose2d conv_transpose3d cosine_similarity dropout elu feature_dropout "
    "gelu glu group_norm hardshrink hardsigmoid hardswish hardtanh layer_norm leaky_relu "
    "linear log_sigmoid max_pool1d max_pool2d max_pool3d mish one_hot pad pairwise_distance "
    "pixel_shuffle pixel_unshuffle prelu relu relu6 rms_norm rrelu "
    "scaled_dot_product_attention selu silu softplus softshrink".split()
)

#: Functions of ``torch.nn.functional`` with another order: that order, by schema names.
REORDERED = {
    "batch_norm": "input running_mean running_var weight bias training momentum eps",
    "instance_norm": "input running_mean running_var weight bias use_input_stats momentum eps",
    "embedding": "indices weight padding_idx",
}

#: Functions of ``torch.nn.functional`` under another name.
RENAMED = {"log_sigmoid": "logsigmoid", "feature_dropout": "dropout2d"}

#: ``F.interpolate`` by operator.
INTERPOLATE = {
    "upsample_nearest1d": "nearest", "upsample_nearest2d": "nearest",
    "upsample_nearest3d": "nearest",
    "upsample_linear1d": "linear", "upsample_bilinear2d": "bilinear",
    "upsample_bicubic2d": "bicubic", "upsample_trilinear3d": "trilinear",
    "_upsample_nearest_exact1d": "nearest-exact", "_upsample_nearest_exact2d": "nearest-exact",
    "_upsample_nearest_exact3d": "nearest-exact",
}  # fmt: skip

#: Tensor factories: float32 (``arange``: int64 of integers) if nothing else is said.
FACTORIES = frozenset("zeros ones empty rand randn full arange linspace eye".split())

#: Modules that register operators which ``import torch`` does not, by namespace.
REGISTERED_BY = {
    "quantized_decomposed": "torch.ao.quantization.fx._decomposed",
    "torchao": "torchao",
    "dim_order_ops": "executorch.exir.passes.dim_order_ops_registry",
}
