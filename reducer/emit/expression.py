"""How is a Python expression put together, with the parentheses that a person writes?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

#: Binding strengths, as in the Python reference ("operator precedence"), weakest first.
TUPLE, TERNARY, NOT, COMPARE, OR, XOR, AND, SHIFT, SUM, PRODUCT, UNARY, POWER, ATOM = range(13)

INFIX: dict[str, int] = {
    "|": OR, "^": XOR, "&": AND, "<<": SHIFT, ">>": SHIFT, "+": SUM, "-": SUM,
    "*": PRODUCT, "/": PRODUCT, "//": PRODUCT, "%": PRODUCT, "@": PRODUCT, "**": POWER,
    "<": COMPARE, "<=": COMPARE, ">": COMPARE, ">=": COMPARE, "==": COMPARE, "!=": COMPARE,
}  # fmt: skip


@dataclass(frozen=True)
class Expression:
    """Python text and how strongly its outermost operator binds."""

    text: str
    strength: int = ATOM

    def within(self, strength: int) -> str:
        """The text, in parentheses if it binds less than ``strength``."""
        return self.text if self.strength >= strength else f"({self.text})"

    def item(self, index: str) -> Expression:
        """``self[index]``.

        >>> Expression("a + b", SUM).item("0").text
        '(a + b)[0]'
        """
        return Expression(f"{self.within(ATOM)}[{index}]")

    def method(self, name: str, arguments: Sequence[str] = ()) -> Expression:
        """``self.name(arguments)``. A number literal gets parentheses."""
        owner = self.within(ATOM)
        owner = f"({owner})" if owner[:1].isdigit() else owner
        return Expression(f"{owner}.{name}({', '.join(arguments)})")


def infix(left: Expression, sign: str, right: Expression) -> Expression:
    """``left sign right``.

    >>> infix(Expression("a + b", SUM), "*", Expression("c")).text
    '(a + b) * c'
    >>> infix(Expression("a - b", SUM), "-", Expression("c - d", SUM)).text
    'a - b - (c - d)'
    >>> infix(Expression("x ** y", POWER), "**", Expression("-1", UNARY)).text
    '(x ** y) ** -1'
    """
    strength = INFIX[sign]
    if strength == POWER:  # binds to the right, and less than a sign on its right
        return Expression(_power(left.within(ATOM), right.within(UNARY)), POWER)
    if strength == COMPARE:  # Python would chain a < b < c
        return Expression(f"{left.within(COMPARE + 1)} {sign} {right.within(COMPARE + 1)}", COMPARE)
    return Expression(f"{left.within(strength)} {sign} {right.within(strength + 1)}", strength)


def _power(left: str, right: str) -> str:
    """As ruff formats it: no spaces around ``**`` between simple operands.

    >>> _power("x", "2"), _power("f(x)", "2")
    ('x**2', 'f(x) ** 2')
    """
    simple = all(_simple(part.removeprefix("-")) for part in (left, right))
    return f"{left}**{right}" if simple else f"{left} ** {right}"


def _simple(text: str) -> bool:
    return all(part.isalnum() or part.isidentifier() for part in text.split("."))


def prefix(sign: str, operand: Expression) -> Expression:
    """``-x`` or ``~x``."""
    return Expression(f"{sign}{operand.within(UNARY)}", UNARY)


def call(function: str, arguments: Sequence[str]) -> Expression:
    """``function(arguments)``."""
    return Expression(f"{function}({', '.join(arguments)})")


def tuple_text(items: Sequence[str]) -> str:
    """A tuple display, with the comma that one item needs.

    >>> tuple_text(["a"]), tuple_text([]), tuple_text(["a", "b"])
    ('(a,)', '()', '(a, b)')
    """
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
