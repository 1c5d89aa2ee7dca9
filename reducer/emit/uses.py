"""Which values of a graph are written down, where are they used, and which are one object?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from reducer.core.case import GETITEM, Graph, Node, Ref, node_references, references
from reducer.graph.schema import Schema, parse_schema

_METADATA_CHECK = "aten._assert_tensor_metadata.default"
_CHECK = "aten._assert_scalar.default"
_LITERAL = "aten.lift_fresh_copy.default"
_DETACH = "aten.detach_.default"


class Uses:
    """Use counts of a graph's values; the result of an in-place operator counts as its ``self``."""

    def __init__(self, graph: Graph, schemas: Mapping[str, str]) -> None:
        self.schemas = schemas
        self.nodes = _written(graph, schemas)
        self.producers = {node.name: node for node in self.nodes}
        self._root: dict[str, str] = {}
        self.items: dict[str, dict[int, str]] = {}
        for node in self.nodes:
            self._find_root(node)
        self.count: Counter[str] = Counter()
        for node in self.nodes:
            if not (self.is_item(node) or self.is_silent(node)):
                self.count.update(self.root(name) for name in node_references(node))
        self.count.update(self.root(name) for out in graph.outputs for name in references(out))

    def root(self, name: str) -> str:
        """The value that ``name`` is the same object as."""
        return self._root.get(name, name)

    def schema(self, node: Node) -> Schema | None:
        """The operator's schema, or None."""
        text = self.schemas.get(node.target)
        return parse_schema(text) if text else None

    def is_item(self, node: Node) -> bool:
        """Whether the node picks one result of an operator that has several."""
        return _is_item(node) and self.root(_owner(node)) in self.items

    def is_effect(self, node: Node) -> bool:
        """Whether the call must happen at its place even if nothing reads its result."""
        schema = self.schema(node)
        return schema is not None and (schema.writes or not schema.returns)

    def _find_root(self, node: Node) -> None:
        if _is_item(node) and _owner(node) in self.producers:
            index = node.args[1]
            assert isinstance(index, int)
            known = self.items.setdefault(self.root(_owner(node)), {})
            # the same item picked twice is one value
            self._root[node.name] = known.setdefault(index, node.name)
            return
        schema = self.schema(node)
        written = schema.returned_argument if schema else None
        if schema is None or written is None:
            return
        for argument, value in schema.bind(node):
            if argument is written and isinstance(value, Ref):
                self._root[node.name] = self.root(value.name)

    def is_silent(self, node: Node) -> bool:
        """Whether the call is part of how export shows ``torch.tensor(...)``."""
        made = self.producers.get(_owner(node)) if node.target == _DETACH else None
        return made is not None and made.target == _LITERAL


def _is_item(node: Node) -> bool:
    return (
        node.target == GETITEM
        and len(node.args) == 2
        and isinstance(node.args[0], Ref)
        and isinstance(node.args[1], int)
    )


def _owner(node: Node) -> str:
    owner = node.args[0] if node.args else None
    return owner.name if isinstance(owner, Ref) else ""


def _written(graph: Graph, schemas: Mapping[str, str]) -> list[Node]:
    """The calls that have a place in the source: not dead, not added by export itself."""
    used: set[str] = {name for output in graph.outputs for name in references(output)}
    implied = _implied_checks(graph)
    kept: list[Node] = []
    for node in reversed(graph.nodes):
        text = schemas.get(node.target)
        schema = parse_schema(text) if text else None
        effect = schema is not None and (schema.writes or not schema.returns)
        if node.target == _METADATA_CHECK or node.name in implied:
            continue
        if not (node.name in used or effect):
            continue
        kept.append(node)
        used.update(node_references(node))
    return kept[::-1]


def _implied_checks(graph: Graph) -> set[str]:
    """Checks that another one implies: of ``n < 3``, export makes ``n <= 2`` as well."""
    comparisons = {node.name: node for node in graph.nodes if node.target in _STRICT}
    said: dict[tuple[str, str, int], str] = {}
    implied = set()
    for node in graph.nodes:
        compared = comparisons.get(_owner(node)) if node.target == _CHECK else None
        if compared is None or len(compared.args) != 2:
            continue
        value, bound = compared.args
        if isinstance(value, Ref) and isinstance(bound, int):
            side, step = _STRICT[compared.target]
            key = (value.name, side, bound + step)
            if key in said:
                written_strictly = (step == 0 and side == "low") or (step != 0 and side == "high")
                implied.add(said[key] if written_strictly else node.name)
                said[key] = node.name if written_strictly else said[key]
            else:
                said[key] = node.name
    return implied


#: Comparisons of whole numbers: which side they bound, and what makes the bound an inclusive one.
_STRICT = {
    "operator:lt": ("high", -1),
    "operator:le": ("high", 0),
    "operator:gt": ("low", 1),
    "operator:ge": ("low", 0),
}
