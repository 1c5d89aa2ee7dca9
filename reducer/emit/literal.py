"""How is an argument that is no computed value written in Python?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from reducer.core.case import Argument, Atom, GraphRef, Ref
from reducer.emit.expression import UNARY, Expression, tuple_text


def number(value: complex | float | int | bool) -> Expression:
    """A number as an expression.

    >>> number(1e-05).text, number(float("-inf")).text, number(3).text, number(1 + 2j).text
    ('1e-05', 'float("-inf")', '3', '(1+2j)')
    """
    if isinstance(value, float) and not math.isfinite(value):
        return Expression(f'float("{value}")')
    if isinstance(value, complex):
        return Expression(f"{value!r}" if math.isfinite(abs(value)) else f'complex("{value}")')
    negative = not isinstance(value, bool) and math.copysign(1, value) < 0
    return Expression(repr(value), UNARY) if negative else Expression(repr(value))


def atom(value: Atom) -> str:
    """A torch constant.

    >>> atom(Atom("dtype", "float32")), atom(Atom("device", "cpu")), atom(Atom("complex", "1j"))
    ('torch.float32', '"cpu"', '1j')
    """
    if value.kind == "device":
        return text(value.text)
    return value.text if value.kind == "complex" else f"torch.{value.text}"


def text(value: str) -> str:
    """A string in double quotes, as formatters want it.

    >>> print(text("a'b"), text('a"b'))
    "a'b" 'a"b'
    """
    quoted = repr(value)
    if quoted.startswith("'") and '"' not in value:
        return '"' + quoted[1:-1].replace("\\'", "'") + '"'
    return quoted


def argument(
    value: Argument, refer: Callable[[str], Expression], *, as_list: bool = False
) -> Expression:
    """An argument; ``refer`` gives the expression of a value or of a nested function by name.

    >>> argument((1, Ref("x")), lambda name: Expression(f"self.{name}"), as_list=True).text
    '[1, self.x]'
    """
    if isinstance(value, Ref | GraphRef):
        return refer(value.name)
    if isinstance(value, Atom):
        return Expression(atom(value))
    if isinstance(value, tuple):
        items = [argument(item, refer).text for item in value]
        return Expression(sequence(items, as_list=as_list))
    if isinstance(value, str):
        return Expression(text(value))
    return Expression("None") if value is None else number(value)


def sequence(items: Sequence[str], *, as_list: bool) -> str:
    """A list or tuple display."""
    return f"[{', '.join(items)}]" if as_list else tuple_text(items)
