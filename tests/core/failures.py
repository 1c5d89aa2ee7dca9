"""What real failures looked like: exceptions of torch 2.13 and executorch 1.5 as plain facts."""

from __future__ import annotations

from reducer.core.signature import ChainLink, Failure, Frame
from reducer.core.stage import Stage

_LOWER = Frame("executorch.exir.program._program", "to_edge_transform_and_lower", 1234)


def link(kind: str, message: str, *sites: str) -> ChainLink:
    """An exception raised below ``sites``, each ``module:function`` or ``module:function:line``."""
    frames = [_LOWER]
    for site in sites:
        module, function, *line = site.split(":")
        frames.append(Frame(module, function, int(line[0]) if line else 10))
    return ChainLink(kind, message, tuple(frames))


def wrapped(name: str, cause: ChainLink, after: str = "[]", *, passes: bool = True) -> Failure:
    """A failure that the pass manager wrapped, as a backend's ``preprocess`` shows it."""
    message = (
        f"An error occurred when running the '{name}' pass after the following passes: {after}"
    )
    shown = link("Exception", message, "executorch.exir.pass_manager:__call__")
    return Failure(Stage.PREPROCESS, (shown, cause), (name,) if passes else ())


def fake_mode(
    node: str = "aten_mul_tensor", address: str = "0x7f2c1a", shape: str = "(1, 4)"
) -> ChainLink:
    return link(
        "AssertionError",
        f"Mixing fake modes NYI x.fake_mode=<torch._subclasses.fake_tensor.FakeTensorMode object at {address}> "
        f"vs self=<torch._subclasses.fake_tensor.FakeTensorMode object at {address}f>\n\n"
        f"While executing %{node} : [num_users=1] = call_function[target=torch.ops.aten.mul.Tensor]"
        f"(args = (%b_table, 2), kwargs = {{}}) size={shape}\nOriginal traceback:\n"
        '  File "/home/someone/model.py", line 12, in forward\n    return self.table * 2',
        "executorch.exir.pass_base:call",
        "torch._ops:__call__",
        "torch.utils._stats:wrapper",
        "torch._subclasses.fake_tensor:validate:3158",
    )


def not_fake(call: str = "aten.mul.Tensor") -> ChainLink:
    return link(
        "AssertionError",
        "Please convert all Tensors to FakeTensors first or instantiate FakeTensorMode with "
        f"'allow_non_fake_inputs'. Found in {call}(tensor([...], size=(1, 4)), 2)",
        "torch._subclasses.fake_tensor:validate:3162",
    )


def missing_out(*names: str) -> Failure:
    shown = ", ".join(f"'{name}'" for name in names)
    cause = link(
        "RuntimeError", f"Missing out variants: {{{shown}}}", "executorch.exir.passes:call"
    )
    return Failure(Stage.TO_EXECUTORCH, (cause,), ("ToOutVarPass",))


def guard(symbol: str = "u0", bound: int = 1, user_line: int = 17) -> Failure:
    cause = link(
        "torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode",
        f"Could not guard on data-dependent expression Eq({symbol}, {bound}) (unhinted: "
        f"Eq({symbol}, {bound})).  (Size-like symbols: {symbol})\n\n"
        "consider using data-dependent friendly APIs such as guard_or_false, guard_or_true\n"
        f"Caused by: (model.py:{user_line} in forward)\n"
        'For more information, run with TORCH_LOGS="dynamic"',
        "torch.fx.experimental.symbolic_shapes:evaluate_expr",
    )
    return Failure(Stage.TO_EDGE, (cause,))


def spec_violation(operator: str = "torch._ops.aten._fft_r2c.default") -> Failure:
    cause = link(
        "torch._export.verifier.SpecViolationError",
        f"\nOperator {operator} is not in Core ATen opset (https://pytorch.org/docs/stable/"
        'torch.compiler_ir.html#core-aten-ir)."\nThere are a few things to try:\n1. ...',
        "executorch.exir.verification.verifier:check_valid_op",
    )
    return Failure(Stage.TO_EDGE, (cause,))


def view_spec(field: str = "shape_dynamism", own: str = "1", base: str = "0") -> Failure:
    cause = link(
        "Exception",
        f"_ViewSpec is incompatible with its base on creation.  It has {field}={own}, "
        f"but its base has {field}={base}.",
        "executorch.exir.passes.replace_view_copy_with_view_pass:__init__",
    )
    return Failure(Stage.TO_EXECUTORCH, (cause,), ("ReplaceViewCopyWithViewPass",))


def channels_last(node: str = "p_stem_weight") -> Failure:
    cause = link(
        "AssertionError",
        f"Expected {node} to be NCHW in channels last reshape pass",
        "executorch.backends.xnnpack._passes.channels_last_tagged_reshape_pass:input_to_nhwc",
    )
    return wrapped("ChannelsLastTaggedReshapePass", cause)


def tagged(node: str = "p_codebook_weight", tag: str = "tag0", user: str = "output") -> Failure:
    cause = link(
        "RuntimeError",
        f"constant data node ({node}) is tagged with ({tag}) but has user ({user}) which has tag (None)",
        "executorch.exir.backend.backend_api:tag_constant_data",
    )
    return Failure(Stage.PARTITION, (cause,))
