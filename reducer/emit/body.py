"""Which statements compute a graph? Values that are used once go where they are used.

The source evaluates the operators in the graph's order, always: a value moves into a later
expression only if nothing else is evaluated in between. So it never crosses a write, and what is
exported again has its operators in the same order. Values waiting for their use are ``pending``, a
stack: a call takes the longest part of its top that it uses in that order; the rest becomes
assignments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from reducer.core.case import Argument, Case, Graph, Input, Node, Spec, node_references, references
from reducer.emit.call import Call
from reducer.emit.expression import Expression
from reducer.emit.layout import wrap
from reducer.emit.literal import argument
from reducer.emit.names import Names, value_stem
from reducer.emit.results import unpacking, written_item
from reducer.emit.spelling import Spelling, needed_imports, spell
from reducer.emit.uses import Uses

#: Longest expression that takes other operators in; beyond it they get names.
INLINE_WIDTH = 72

_SHAPES = frozenset(
    f"aten.{name}" for name in ("sym_size.int", "sym_numel.default", "sym_stride.int")
)
_CHECK = "aten._assert_scalar.default"


@dataclass
class Module:
    """What the graphs of one source share.

    ``attributes`` are expressions such as ``self.weight``; ``constants`` are tensors made in
    ``forward``; ``write_control_flow`` writes an operator that has subgraphs.
    """

    case: Case
    spelling: Spelling
    attributes: dict[str, str]
    constants: dict[str, Input]
    write_control_flow: Callable[[Body, Node], None]
    imports: set[str] = field(default_factory=set)
    referenced: set[str] = field(default_factory=set)


class Body:
    """The statements of one function, in the making."""

    def __init__(self, module: Module, names: Names, indent: str) -> None:
        self.module = module
        self.names = names
        self.indent = indent
        self.lines: list[str] = []
        self.expressions: dict[str, Expression] = {}
        self.pending: dict[str, Expression] = {}
        self.uses = Uses(Graph((), (), ()), {})
        self._specs: dict[str, Spec] = {}
        self._inlined: set[str] = set()
        self._reserved: dict[str, str] = {}

    def add(self, graph: Graph, *, keep: Iterable[str] = ()) -> None:
        """Write the calls of a graph whose inputs are bound; values in ``keep`` get names."""
        outer, self.uses = self.uses, Uses(graph, self.module.case.schemas)
        self._specs.update((item.name, item.spec) for item in graph.inputs)
        self.uses.count.update(self.uses.root(name) for name in keep)
        for node in self.uses.nodes:
            self._specs[node.name] = node.spec
            self._add(node)
        if outer.nodes:
            self.flush()
            for name in keep:  # the outer graph does not know which values are one object
                self.expressions.setdefault(name, self.refer(name))
            self.uses = outer

    def bind(self, name: str, text: str) -> None:
        """Let ``text`` stand for a value."""
        self.expressions[name] = Expression(text)

    def refer(self, name: str) -> Expression:
        """The expression of a value, or of a nested function."""
        name = self.uses.root(name)
        if name in self.pending:
            if name in self._inlined:
                return self.pending[name]
            return Expression(self._name(name))
        if name in self.module.attributes and name not in self.expressions:
            self.module.referenced.add(name)
            return Expression(self.module.attributes[name])
        return self.expressions[name]

    def take(
        self, operands: Iterable[str], write: Callable[[], Expression], width: int = INLINE_WIDTH
    ) -> Expression:
        """What ``write`` gives with as many pending operands inside as order and width allow."""
        waiting, wanted = list(self.pending), [self.uses.root(name) for name in operands]
        best = max(
            n for n in range(len(waiting) + 1) if _in_order(waiting[len(waiting) - n :], wanted)
        )
        for count in range(best, -1, -1):
            inlined = waiting[len(waiting) - count :]
            self._inlined = set(inlined)
            written = write()
            if len(written.text) <= width:
                break
        self._inlined = set()
        apart = [i for i, name in enumerate(waiting) if name in wanted and name not in inlined]
        if apart:
            self.flush(waiting[: apart[-1] + 1])
        for name in inlined:
            del self.pending[name]
        return written

    def flush(self, names: Iterable[str] | None = None) -> None:
        """Give pending values names: all, or the first ones."""
        for name in list(self.pending if names is None else names):
            written = self.pending.pop(name)
            chosen = self._name(name)
            self.line(f"{chosen} = {written.text}")
            self.bind(name, chosen)

    def place(self, name: str, written: Expression, pattern: object = None) -> None:
        """Let a value wait for its only use, or assign it.

        ``pattern`` says how several results are nested in what the expression gives: indices in
        nested tuples; an index alone is the bare value.
        """
        items = self.uses.items.get(name, {})
        if items and not self.uses.count[name]:
            nested = pattern if pattern is not None else self._flat(name, items)
            if len(items) == 1:
                [(index, item)] = items.items()
                self.place(item, written_item(written, nested, index))
            else:
                self._unpack(written, nested, items)
            return
        if self.uses.count[name] == 1:
            self.pending[name] = written
            return
        self.flush()
        if not self.uses.count[name]:
            self.line(written.text)
            return
        self.bind(name, self._name(name))
        self.line(f"{self._name(name)} = {written.text}")
        for index, item in items.items():
            self.expressions[item] = written_item(self.refer(name), pattern, index)

    def result(self, outputs: Sequence[Argument], write: Callable[[list[str]], str]) -> None:
        """Write ``return``; ``write`` nests the outputs' texts."""
        operands = [name for output in outputs for name in references(output)]

        def texts() -> Expression:
            shown = [argument(output, self.refer).text for output in outputs]
            return Expression(write(shown))

        alone = len(outputs) == 1
        written = self.take(operands, texts, 10 * INLINE_WIDTH if alone else INLINE_WIDTH)
        self.flush()
        self.line(f"return {written.text}")

    def line(self, text: str) -> None:
        """Append a statement, wrapped if it is long."""
        self.lines += wrap(self.indent + text)

    def _add(self, node: Node) -> None:
        if self.uses.is_item(node) or self.uses.is_silent(node):
            return
        if node.target.startswith("higher_order."):
            self.module.write_control_flow(self, node)
            return
        this = Call(
            node, self.uses.schema(node), self.refer, self._specs.get, self.module.constants
        )
        free = self._is_free(node)
        written = self.take(node_references(node), lambda: spell(this, self.module.spelling))
        self.module.imports |= needed_imports(node.target, written.text)
        if node.target == _CHECK and free:
            self.line(written.text)
        elif self.uses.is_effect(node):
            self._effect(node, written)
        elif free:
            self._free(node, written)
        else:
            self.place(node.name, written)

    def _effect(self, node: Node, written: Expression) -> None:
        self.flush()
        name = node.name
        if self.uses.root(name) != name or not (self.uses.count[name] or self.uses.items.get(name)):
            self.line(written.text)
        elif name in self.uses.items:
            self.uses.count[name] += not self.uses.count[name] and len(self.uses.items[name]) == 1
            self.place(name, written)
        else:
            self.bind(name, self._name(name))
            self.line(f"{self._name(name)} = {written.text}")

    def _is_free(self, node: Node) -> bool:
        """Whether it computes numbers from named values: that may be done anywhere."""
        number = node.target in _SHAPES or ":" in node.target or node.target == _CHECK
        return number and not any(self.uses.root(n) in self.pending for n in node_references(node))

    def _free(self, node: Node, written: Expression) -> None:
        if self.uses.count[node.name] == 1 or len(written.text) <= len("x.shape[0]"):
            self.expressions[node.name] = written
            return
        self.bind(node.name, self._name(node.name))
        self.line(f"{self._name(node.name)} = {written.text}")

    def _flat(self, name: str, items: dict[int, str]) -> tuple[int, ...]:
        spec = self._specs.get(name)
        count = len(spec) if isinstance(spec, tuple) else 0
        return tuple(range(max(count, max(items) + 1)))

    def _unpack(self, written: Expression, nested: object, items: dict[int, str]) -> None:
        self.flush()
        for item in items.values():
            self.bind(item, self._name(item))
        left = unpacking(nested, {index: self._name(item) for index, item in items.items()})
        self.line(f"{left} = {written.text}")

    def _name(self, value: str) -> str:
        """The name of a value, the same each time."""
        if value not in self._reserved:
            self._reserved[value] = self.names.take(self._stem(value))
        return self._reserved[value]

    def _stem(self, value: str) -> str:
        producer = self.uses.producers.get(value)
        for owner, items in self.uses.items.items():
            for index, item in items.items():
                if item == value and owner in self.uses.producers:
                    return self._item_stem(self.uses.producers[owner], index)
        return value_stem(producer.target) if producer else "value"

    def _item_stem(self, owner: Node, index: int) -> str:
        schema = self.uses.schema(owner)
        if schema and index < len(schema.returns) and schema.returns[index].name:
            name = schema.returns[index].name
            return name if re.fullmatch(r"[a-z]\w*", name) else value_stem(owner.target)
        return value_stem(owner.target)


def _in_order(part: Sequence[str], whole: Sequence[str]) -> bool:
    remaining = iter(whole)
    return all(name in remaining for name in part)
