"""How are the arguments of one operator call written?"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from reducer.core.case import Argument, Atom, Input, Node, Ref, Spec
from reducer.emit import literal
from reducer.emit.expression import Expression
from reducer.emit.names import operator_name
from reducer.emit.operator_tables import FACTORIES
from reducer.graph.schema import Schema, SchemaArgument

#: What export adds to calls, and what depends on how torch was built.
_NOISE: Mapping[str, Sequence[Argument]] = {
    "device": (Atom("device", "cpu"), "cpu"),
    "pin_memory": (False, None),
    "layout": (Atom("layout", "strided"),),
    "cudnn_enable": (False, True),
    "cudnn_enabled": (False, True),
}


@dataclass(frozen=True)
class Call:
    """One operator call with all that its spelling may depend on.

    ``refer`` gives the expression of a value, ``spec`` its shape and dtype, ``constants`` the
    inputs that are tensors made in ``forward``.
    """

    node: Node
    schema: Schema | None
    refer: Callable[[str], Expression]
    spec: Callable[[str], Spec] = lambda name: None
    constants: Mapping[str, Input] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The operator's bare name."""
        return operator_name(self.node.target)

    @property
    def bound(self) -> list[tuple[SchemaArgument, Argument]]:
        """Schema arguments with what is passed for them. Empty without a schema."""
        return list(self.schema.bind(self.node)) if self.schema else []

    def given(self, name: str, default: Argument = None) -> Argument:
        """What is passed for the argument called ``name``, or its default."""
        for argument, value in self.bound:
            if argument.name == name:
                return value
        for argument in self.schema.arguments if self.schema else ():
            if argument.name == name and argument.has_default:
                return argument.value
        return default

    def text(self, value: Argument) -> str:
        """A value as Python text; lists as tuples."""
        return literal.argument(value, self.refer).text

    def expression(self, value: Argument) -> Expression:
        """A value as an expression."""
        return literal.argument(value, self.refer)

    @property
    def first(self) -> Expression | None:
        """The tensor that the call is about, if its first argument is one."""
        value = self.node.args[0] if self.node.args else None
        return self.refer(value.name) if isinstance(value, Ref) else None

    def arguments(self, *, skip: int = 0, order: Sequence[str] = ()) -> list[str] | None:
        """The arguments as a person passes them, or None if that order cannot pass all of them.

        Defaults and noise are left out, one number stands for a list of equal ones, a size may be
        passed as several arguments where the operator takes nothing else. ``skip`` leaves out the
        first ones (the owner of a method); ``order`` gives another order, by schema names.
        """
        assert self.schema is not None
        kept = [pair for pair in self.bound[skip:] if not self._left_out(*pair)]
        if order:
            if any(argument.name not in order for argument, _ in kept):
                return None
            kept.sort(key=lambda pair: order.index(pair[0].name))
        positions = (
            list(order) or [a.name for a in self.schema.arguments if not a.kwarg_only][skip:]
        )
        written: list[str] = []
        by_position = True
        for index, (argument, value) in enumerate(kept):
            by_position &= index < len(positions) and positions[index] == argument.name
            if by_position and len(positions) == 1 and _is_size(argument) and value:
                assert isinstance(value, tuple)
                written += [self.text(item) for item in value]
                continue
            shown = self._value(argument, value)
            option = argument.has_default and argument.element != "Tensor"
            if by_position and not option:
                written.append(shown)
            elif keyword.iskeyword(argument.name) or argument.name == "self":
                return None
            else:
                by_position = False
                written.append(f"{argument.name}={shown}")
        return written

    def all_arguments(self) -> list[str]:
        """The arguments as ``torch.ops`` takes them: as they are in the graph."""
        lists = {a.name: a.is_list for a in self.schema.arguments} if self.schema else {}
        kinds = [a.is_list for a in self.schema.arguments] if self.schema else []
        written = []
        for index, value in enumerate(self.node.args):
            as_list = kinds[index] if index < len(kinds) else False
            written.append(literal.argument(value, self.refer, as_list=as_list).text)
        for key, value in self.node.kwargs:
            as_list = lists.get(key, False)
            written.append(f"{key}={literal.argument(value, self.refer, as_list=as_list).text}")
        return written

    def _value(self, argument: SchemaArgument, value: Argument) -> str:
        if isinstance(value, tuple) and argument.is_list:
            numbers = argument.element in ("int", "SymInt")
            if numbers and argument.length == len(value) and len(set(map(repr, value))) == 1:
                return self.text(value[0])
            as_list = not numbers
            return literal.argument(value, self.refer, as_list=as_list).text
        return self.text(value)

    def _left_out(self, argument: SchemaArgument, value: Argument) -> bool:
        if argument.is_default(value):
            return True
        if argument.name in _NOISE and value in _NOISE[argument.name]:
            return True
        return argument.name == "dtype" and self.name in FACTORIES and value == self._usual_dtype()

    def _usual_dtype(self) -> Atom:
        numbers = [v for a, v in self.bound if a.element == "Scalar"]
        whole = all(isinstance(v, int) and not isinstance(v, bool) for v in numbers)
        if self.name == "full" and numbers and isinstance(numbers[0], bool):
            return Atom("dtype", "bool")
        if self.name in ("arange", "full") and numbers and whole:
            return Atom("dtype", "int64")
        return Atom("dtype", "float32")


def _is_size(argument: SchemaArgument) -> bool:
    return argument.is_list and argument.length is None and argument.element in ("int", "SymInt")
