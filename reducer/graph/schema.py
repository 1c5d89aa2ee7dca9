"""What does an operator's schema say? Arguments, defaults, what it writes, what its results share.

Parses the text that torch prints for an ``OpOverload``'s schema, so that these questions need no
torch.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from reducer.core.case import Argument, Node


@dataclass(frozen=True)
class SchemaArgument:
    """One argument, or one result.

    ``type`` has no alias annotation (``Tensor[]``, ``SymInt[2]``, ``Scalar``). ``alias`` are the
    letters of the memory that it may share; ``is_write`` says that the operator writes to it.
    ``default`` is the default as printed, or None if there is none.
    """

    name: str
    type: str
    default: str | None = None
    kwarg_only: bool = False
    alias: tuple[str, ...] = ()
    is_write: bool = False

    @property
    def has_default(self) -> bool:
        """Whether the argument may be left out."""
        return self.default is not None

    @property
    def value(self) -> Argument:
        """The default as plain data; names such as ``strided`` come back as text.

        >>> SchemaArgument("stride", "SymInt[2]", "[1, 1]").value
        (1, 1)
        """
        return _literal(self.default or "None")

    @property
    def element(self) -> str:
        """The type without ``?``, and without brackets if it is a list.

        >>> SchemaArgument("dim", "int[1]?").element
        'int'
        """
        return self.type.rstrip("?").split("[")[0].rstrip("?")

    @property
    def is_list(self) -> bool:
        """Whether the type is a list."""
        return self.type.rstrip("?").endswith("]")

    @property
    def length(self) -> int | None:
        """Number of elements of a list type of fixed size, for which one number stands for all.

        >>> SchemaArgument("stride", "SymInt[2]").length, SchemaArgument("size", "SymInt[]").length
        (2, None)
        """
        found = re.search(r"\[(\d+)\]\??$", self.type)
        return int(found[1]) if found else None

    def is_default(self, value: Argument) -> bool:
        """Whether passing ``value`` is the same as leaving the argument out."""
        if not self.has_default:
            return False
        default = self.value
        if isinstance(default, int | float) and isinstance(value, tuple) and self.length:
            default = (default,) * self.length
        if isinstance(default, tuple) and isinstance(value, tuple):
            return [(type(item), item) for item in default] == [
                (type(item), item) for item in value
            ]
        return type(default) is type(value) and default == value


@dataclass(frozen=True)
class Schema:
    """An operator's name (``aten::add_``), overload (may be empty), arguments and results."""

    name: str
    overload: str
    arguments: tuple[SchemaArgument, ...]
    returns: tuple[SchemaArgument, ...]

    @cached_property
    def shared(self) -> frozenset[str]:
        """Letters of the memory that a result may share."""
        return frozenset(letter for result in self.returns for letter in result.alias)

    def bind(self, node: Node) -> Iterator[tuple[SchemaArgument, Argument]]:
        """Pairs of argument and value that a call passes, in the order of the schema."""
        given = dict(node.kwargs)
        for position, argument in enumerate(self.arguments):
            if position < len(node.args) and not argument.kwarg_only:
                yield argument, node.args[position]
            elif argument.name in given:
                yield argument, given[argument.name]

    @cached_property
    def writes(self) -> bool:
        """Whether a call changes one of its arguments."""
        return any(argument.is_write for argument in self.arguments)

    @property
    def returned_argument(self) -> SchemaArgument | None:
        """The written argument that the only result is: ``self`` of an in-place operator.

        >>> parse_schema("aten::relu_(Tensor(a!) self) -> Tensor(a!)").returned_argument.name
        'self'
        """
        if len(self.returns) != 1 or not self.returns[0].is_write:
            return None
        alias = self.returns[0].alias
        found = [item for item in self.arguments if item.is_write and item.alias == alias]
        return found[0] if len(found) == 1 else None


@lru_cache(maxsize=4096)
def parse_schema(text: str) -> Schema:
    """The schema that ``text`` prints. Raises ValueError if it is not one.

    >>> schema = parse_schema("aten::sub_(Tensor(a!) self, *, Scalar alpha=1) -> Tensor(a!)")
    >>> [(item.name, item.type, item.default, item.is_write) for item in schema.arguments]
    [('self', 'Tensor', None, True), ('alpha', 'Scalar', '1', False)]
    >>> parse_schema("aten::unbind(Tensor(a -> *) self) -> Tensor(a)[]").returns[0].type
    'Tensor[]'
    >>> parse_schema("aten::sort(Tensor self) -> (Tensor values, Tensor indices)").returns[1].name
    'indices'
    """
    head, found, rest = text.partition("(")
    if not found or "::" not in head:
        raise ValueError(f"not an operator schema: {text!r}")
    inside, after = _closed(rest)
    arrow, _, result = after.partition("->")
    if arrow.strip() or not result.strip():
        raise ValueError(f"not an operator schema: {text!r}")
    name, _, overload = head.strip().partition(".")
    arguments, kwarg_only = [], False
    for part in _split(inside):
        if part == "*":
            kwarg_only = True
        else:
            arguments.append(_argument(part, kwarg_only))
    result = result.strip()
    parts = _split(_closed(result[1:])[0]) if result.startswith("(") else [result]
    returns = tuple(_argument(part, False, result=True) for part in parts)
    return Schema(name, overload, tuple(arguments), returns)


_ALIAS = re.compile(r"\(([^()]*)\)")


def _argument(text: str, kwarg_only: bool, *, result: bool = False) -> SchemaArgument:
    alias: tuple[str, ...] = ()
    is_write = False
    annotated = _ALIAS.search(text)
    if annotated and "=" not in text[: annotated.start()]:
        before = annotated[1].partition("->")[0]
        is_write = "!" in before
        alias = tuple(letter for letter in re.split(r"[|\s]+", before.replace("!", "")) if letter)
        text = text[: annotated.start()] + text[annotated.end() :]
    declared, has_default, default = text.partition("=")
    kind, _, name = declared.strip().partition(" ")
    if result and not name:
        name = ""
    return SchemaArgument(
        name.strip(), kind, default.strip() if has_default else None, kwarg_only, alias, is_write
    )


def _closed(text: str) -> tuple[str, str]:
    """What is before the parenthesis that closes ``text``, and what is after it."""
    depth, quoted = 1, False
    for position, letter in enumerate(text):
        quoted ^= letter == '"'
        if not quoted:
            depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return text[:position], text[position + 1 :]
    raise ValueError(f"unbalanced parentheses in a schema: {text!r}")


def _split(text: str) -> list[str]:
    """Parts between the commas that are in no bracket and in no quotes."""
    parts, depth, quoted, start = [], 0, False, 0
    for position, letter in enumerate(text):
        quoted ^= letter == '"'
        if not quoted:
            depth += (letter in "([") - (letter in ")]")
            if letter == "," and depth == 0:
                parts.append(text[start:position].strip())
                start = position + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def _literal(text: str) -> Argument:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return tuple(value) if isinstance(value, list | tuple) else value
