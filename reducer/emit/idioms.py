"""Which operators have a form of their own in Python: indexing, shapes, checks, tensor literals?"""

from __future__ import annotations

from collections.abc import Callable

from reducer.core.case import Argument, Ref, TensorSpec
from reducer.emit.call import Call
from reducer.emit.expression import ATOM, NOT, Expression, call, infix, prefix
from reducer.emit.operator_tables import INFIX, INTERPOLATE, PREFIX, SCALAR_INFIX
from reducer.emit.tensors import literal_text

_END = 9223372036854775807


def signs(this: Call) -> Expression | None:
    """``a + b``, ``-a``: if nothing but the operands is passed."""
    target, args = this.node.target, this.node.args
    if target in PREFIX and len(args) == 1:
        return prefix(PREFIX[target], this.expression(args[0]))
    sign = INFIX.get(target) or SCALAR_INFIX.get(target)
    if sign is None or len(args) != 2 or this.node.kwargs:
        return None
    return infix(this.expression(args[0]), sign, this.expression(args[1]))


def reversed_difference(this: Call) -> Expression | None:
    """``1 - x``."""
    if len(this.node.args) != 2 or this.node.kwargs:
        return None
    return infix(this.expression(this.node.args[1]), "-", this.expression(this.node.args[0]))


def select(this: Call) -> Expression | None:
    """``x[0]``, ``x[:, 0]``, ``x[..., 0]``."""
    return _indexed(this, this.given("dim", 0), this.text(this.given("index")))


def narrow(this: Call) -> Expression | None:
    """``x[1:3]``, ``x[:, ::2]``."""
    start, end, step = this.given("start"), this.given("end"), this.given("step", 1)
    first = "" if start in (None, 0) and start is not False else this.text(start)
    last = "" if end in (None, _END) else this.text(end)
    if not first and not last and step == 1:
        return None  # x[:] is no operator
    space = " " if any(not part.isalnum() for part in (first, last) if part) else ""
    text = f"{first}{space if first else ''}:{space if last else ''}{last}"
    return _indexed(this, this.given("dim", 0), text if step == 1 else f"{text}:{this.text(step)}")


def index(this: Call) -> Expression | None:
    """``x[i]``, ``x[:, i]``: indexing by tensors."""
    indices = this.given("indices")
    if this.first is None or not isinstance(indices, tuple) or not indices:
        return None
    parts = [":" if item is None else this.text(item) for item in indices]
    return this.first.item(", ".join(parts))


def _indexed(this: Call, dim: Argument, text: str) -> Expression | None:
    if (
        this.first is None
        or not isinstance(dim, int)
        or isinstance(dim, bool)
        or not -1 <= dim <= 2
    ):
        return None
    prefix = "..., " if dim == -1 else ":, " * dim
    return this.first.item(prefix + text)


def shape(this: Call) -> Expression | None:
    """``x.shape[0]``."""
    if this.first is None:
        return None
    return Expression(f"{this.first.within(ATOM)}.shape[{this.text(this.node.args[1])}]")


def check(this: Call) -> Expression | None:
    """``torch._check(n >= 0)``."""
    return call("torch._check", [this.text(this.node.args[0])])


def negation(this: Call) -> Expression | None:
    """``not a``."""
    return Expression(f"not {this.expression(this.node.args[0]).within(NOT)}", NOT)


def tensor(this: Call) -> Expression | None:
    """``torch.tensor([1, 2])``: what export makes of it is a copy of a lifted constant."""
    value = this.node.args[0]
    item = this.constants.get(value.name) if isinstance(value, Ref) else None
    if item is None or not isinstance(item.spec, TensorSpec):
        return None
    text = literal_text(item.spec, item.fill)
    return Expression(text) if text else None


def interpolate(this: Call) -> Expression | None:
    """``F.interpolate(x, scale_factor=2.0, mode="bicubic")``."""
    mode = INTERPOLATE.get(this.name)
    if mode is None or this.first is None:
        return None
    size, scales = this.given("output_size"), this.given("scale_factors")
    arguments = [this.first.text]
    if isinstance(size, tuple):
        arguments.append(f"size={this.text(size)}")
    if isinstance(scales, tuple):
        same = len(set(scales)) == 1 and not isinstance(scales[0], Ref)
        arguments.append(f"scale_factor={this.text(scales[0] if same else scales)}")
    if mode != "nearest":
        arguments.append(f'mode="{mode}"')
    if this.given("align_corners") is True:
        arguments.append("align_corners=True")
    return call("F.interpolate", arguments)


def conversion(this: Call) -> Expression | None:
    """``x.to(torch.float16)``."""
    if this.first is None or this.given("copy") or this.given("memory_format") is not None:
        return None
    return this.first.method("to", [this.text(this.given("dtype"))])


def transposed(this: Call) -> Expression | None:
    """``x.T``, ``x.mT``."""
    if this.first is None:
        return None
    return Expression(f"{this.first.within(ATOM)}.{this.name.rpartition('_')[2]}")


IDIOMS: dict[str, Callable[[Call], Expression | None]] = {
    "aten.rsub.Scalar": reversed_difference,
    "aten.select.int": select,
    "aten.slice.Tensor": narrow,
    "aten.index.Tensor": index,
    "aten.sym_size.int": shape,
    "aten._assert_scalar.default": check,
    "aten.lift_fresh_copy.default": tensor,
    "aten.to.dtype": conversion,
    "aten.numpy_T.default": transposed,
    "aten.mT.default": transposed,
    "operator:not_": negation,
    "torch:sym_not": negation,
    **dict.fromkeys([*INFIX, *PREFIX, *SCALAR_INFIX], signs),
    **{f"aten.{name}.vec": interpolate for name in INTERPOLATE},
}
