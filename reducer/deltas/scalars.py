"""Use plain numbers: 1, 2 or 0 instead of 10000.0, 1e-05 or -3; plain True for False or the reverse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from reducer.core.case import GETITEM, Argument, Case, Node
from reducer.core.delta import Edit
from reducer.core.order import argument_weight
from reducer.graph.each_node import all_nodes, map_nodes

NAME = "scalars"
TOGETHER = True


def edits(case: Case) -> list[Edit]:
    """Per number in a call: the plainer numbers, plainest first."""
    found = []
    for node in all_nodes(case):
        if _is_quantisation(node, case):
            continue
        values: list[tuple[int | str, Argument]] = [*enumerate(node.args), *node.kwargs]
        for key, value in values:
            for path, number in _numbers(value, ()):
                if not isinstance(number, int | float) or isinstance(number, bool):
                    continue
                item = node.target == GETITEM  # of several results, the first is the plainest
                for plain in (0,) if item else (1, 2, 0):
                    new = type(number)(plain)
                    if number > 0 if item else argument_weight(new) < argument_weight(number):
                        where = ".".join(str(part) for part in (key, *path))
                        element = f"{node.name} argument {where}"
                        payload = (node.name, key, path, new)
                        found.append(Edit(NAME, element, payload, f"{element}: {number} -> {new}"))
    return found


def apply(case: Case, edits: Sequence[Edit]) -> Case | None:
    """Put the numbers in."""
    changes: dict[str, list[tuple[Argument, ...]]] = {}
    for edit in edits:
        changes.setdefault(str(edit.payload[0]), []).append(edit.payload[1:])

    def changed(node: Node) -> Node:
        args, kwargs = list(node.args), dict(node.kwargs)
        for key, path, new in changes.get(node.name, ()):
            if isinstance(key, int) and key < len(args):
                args[key] = _put(args[key], path, new)
            elif isinstance(key, str) and key in kwargs:
                kwargs[key] = _put(kwargs[key], path, new)
        return replace(node, args=tuple(args), kwargs=tuple(kwargs.items()))

    return map_nodes(case, changed)


def _is_quantisation(node: Node, case: Case) -> bool:
    """Whether its numbers are a quantizer's: they fit those of other calls, and plainer ones do not."""
    schema = case.schemas.get(node.target, "")
    return "zero_point" in schema and "quant_min" in schema


def _numbers(value: Argument, path: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Argument]]:
    if isinstance(value, tuple):
        for place, item in enumerate(value):
            yield from _numbers(item, (*path, place))
    else:
        yield path, value


def _put(value: Argument, path: Argument, new: Argument) -> Argument:
    if not path or not isinstance(path, tuple):
        return new
    if not isinstance(value, tuple) or not isinstance(path[0], int) or path[0] >= len(value):
        return value
    place = path[0]
    return (*value[:place], _put(value[place], path[1:], new), *value[place + 1 :])
