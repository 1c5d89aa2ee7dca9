"""How is a control-flow operator written? With nested functions, or as a ``with`` block."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from reducer.core.case import Argument, Atom, Graph, GraphRef, Node, node_references, references
from reducer.emit.body import Body
from reducer.emit.expression import Expression, call, tuple_text
from reducer.emit.literal import argument, atom
from reducer.emit.names import Names, operator_name

_LETTERS = ("x", "y", "z", "u", "v", "w")


def write_control_flow(body: Body, node: Node) -> None:
    """Write a node whose arguments are subgraphs."""
    _WRITERS.get(operator_name(node.target), _other)(body, node)


def _cond(body: Body, node: Node) -> None:
    _, true_graph, false_graph, operands = node.args
    operands = _items(operands)
    names = [
        _function(body, stem, graph, [operands])
        for stem, graph in (("true_fn", true_graph), ("false_fn", false_graph))
    ]
    count = len(_graph(body, true_graph).outputs)

    def write() -> Expression:
        values = [*_texts(body, node.args[:1]), *names, tuple_text(_texts(body, operands))]
        return call("torch.cond", values)

    _place(body, node, write, _results(count))


def _while_loop(body: Body, node: Node) -> None:
    carried, extra = _items(node.args[2]), _items(node.args[3] if len(node.args) > 3 else ())
    names = [
        _function(body, stem, graph, [[value] for value in carried], extra, always_tuple=index == 1)
        for index, (stem, graph) in enumerate(
            zip(("cond_fn", "body_fn"), node.args[:2], strict=True)
        )
    ]
    body.module.imports.add("from torch._higher_order_ops.while_loop import while_loop")

    def write() -> Expression:
        return call("while_loop", [*names, tuple_text(_texts(body, carried))])

    _place(body, node, write, tuple(range(len(carried))))


def _map(body: Body, node: Node) -> None:
    mapped, extra = _items(node.args[1]), _items(node.args[2] if len(node.args) > 2 else ())
    name = _function(
        body, "map_fn", node.args[0], [mapped, *([value] for value in extra)], groups=True
    )
    body.module.imports.add("from torch._higher_order_ops.map import map as torch_map")

    def write() -> Expression:
        return call("torch_map", [name, _group(_texts(body, mapped)), *_texts(body, extra)])

    _place(body, node, write, _results(len(_graph(body, node.args[0]).outputs)))


def _scan(body: Body, node: Node) -> None:
    carried, scanned = _items(node.args[1]), _items(node.args[2])
    extra = _items(node.args[3] if len(node.args) > 3 else ())
    count = len(carried)
    graph = _graph(body, node.args[0])
    name = _function(
        body, "combine_fn", node.args[0], [carried, scanned], extra, groups=True, returned=count
    )
    body.module.imports.add("from torch._higher_order_ops.scan import scan")

    def write() -> Expression:
        return call("scan", [name, _group(_texts(body, carried)), _group(_texts(body, scanned))])

    rest = tuple(range(count, len(graph.outputs)))
    pattern = (_results(count), rest[0] if len(rest) == 1 else rest)
    _place(body, node, write, pattern)


def _grad_mode(body: Body, node: Node) -> None:
    header = "torch.enable_grad()" if node.args[0] else "torch.no_grad()"
    _block(body, node, header, node.args[1], node.args[2:])


def _autocast(body: Body, node: Node) -> None:
    device, dtype, enabled = node.args[:3]  # the fourth, the cache, is off whenever export traces
    options = [argument(device, body.refer).text]
    if isinstance(dtype, Atom):
        options.append(f"dtype={atom(dtype)}")
    if enabled is False:
        options.append("enabled=False")
    _block(body, node, call("torch.autocast", options).text, node.args[4], node.args[5:])


def _other(body: Body, node: Node) -> None:
    """Any other operator: its own call with a nested function for each subgraph."""
    names: dict[str, str] = {}
    for value in node.args:
        if isinstance(value, GraphRef):
            inputs = _graph(body, value).inputs
            names[value.name] = _function(body, "inner_fn", value, [[None]] * len(inputs))
    for name, chosen in names.items():
        body.bind(name, chosen)

    def write() -> Expression:
        options = [f"{key}={argument(value, body.refer).text}" for key, value in node.kwargs]
        return call(f"torch.ops.{node.target}", [*_texts(body, node.args), *options])

    _place(body, node, write, None)


_WRITERS: dict[str, Callable[[Body, Node], None]] = {
    "cond": _cond,
    "while_loop": _while_loop,
    "map_impl": _map,
    "scan": _scan,
    "wrap_with_set_grad_enabled": _grad_mode,
    "wrap_with_autocast": _autocast,
}


def _place(body: Body, node: Node, write: Callable[[], Expression], pattern: object) -> None:
    body.place(node.name, body.take(node_references(node), write), pattern)


def _block(
    body: Body, node: Node, header: str, graph: Argument, operands: Sequence[Argument]
) -> None:
    """A ``with`` block: the subgraph's statements, with what it returns in named values."""
    body.flush()
    inner = _graph(body, graph)
    for taken, value in zip(inner.inputs, operands, strict=True):
        body.expressions[taken.name] = argument(value, body.refer)
    body.line(f"with {header}:")
    body.indent += "    "
    start = len(body.lines)
    body.add(inner, keep=[name for output in inner.outputs for name in _names(output)])
    if len(body.lines) == start:
        body.line("pass")
    body.indent = body.indent[:-4]
    for index, item in body.uses.items.get(node.name, {}).items():
        body.expressions[item] = argument(inner.outputs[index], body.refer)
    if body.uses.count[node.name]:
        whole = tuple_text([argument(output, body.refer).text for output in inner.outputs])
        body.bind(node.name, whole)


def _function(
    body: Body,
    stem: str,
    graph: Argument,
    operands: Sequence[Sequence[Argument]],
    closed: Sequence[Argument] = (),
    *,
    always_tuple: bool = False,
    groups: bool = False,
    returned: int | None = None,
) -> str:
    """Define a nested function for a subgraph and return its name.

    ``operands`` are what it is called with, in groups: one parameter per group if ``groups``, else
    one per operand. Values in ``closed`` are read from the enclosing function. ``returned`` splits
    the outputs into two groups.
    """
    inner_graph = _graph(body, graph)
    _settle_closed(body, closed)
    outside = [argument(value, body.refer).text for value in closed]
    names = Names(word for text in outside for word in re.findall(r"[A-Za-z_]\w*", text))
    inner = Body(body.module, names, body.indent + "    ")
    inputs = iter(inner_graph.inputs)
    parameters: list[str] = []
    for group in operands:
        chosen = []
        for value in group:
            name = names.take_first(_stems(body, value), "x")
            inner.bind(next(inputs).name, name)
            chosen.append(name)
        if groups and len(group) > 1:
            parameters.append(names.take("carry" if returned and not parameters else "xs"))
            inner.line(f"{', '.join(chosen)} = {parameters[-1]}")
        else:
            parameters += chosen
    for item, text in zip(inputs, outside, strict=False):
        inner.bind(item.name, text)
    inner.add(inner_graph)

    def nest(texts: list[str]) -> str:
        if returned is not None:
            return f"{_group(texts[:returned])}, {_group(texts[returned:])}"
        return tuple_text(texts) if always_tuple and len(texts) == 1 else ", ".join(texts) or "()"

    inner.result(inner_graph.outputs, nest)
    name = body.names.take(stem)
    body.lines.append("")
    body.line(f"def {name}({', '.join(parameters)}):")
    body.lines += [*inner.lines, ""]
    return name


def _settle_closed(body: Body, closed: Sequence[Argument]) -> None:
    """Name what a nested function reads from outside: a function cannot hold a pending value."""
    waiting = list(body.pending)
    wanted = {body.uses.root(name) for value in closed for name in _names(value)}
    last = max((i for i, name in enumerate(waiting) if name in wanted), default=-1)
    body.flush(waiting[: last + 1])


def _stems(body: Body, value: Argument) -> tuple[str, ...]:
    """Names for a parameter: that of the value which is passed, if it has one."""
    names = _names(value)
    if names and body.uses.root(names[0]) not in body.pending:
        text = argument(value, body.refer).text.removeprefix("self.")
        if text.isidentifier():
            return (text, *_LETTERS)
    return _LETTERS


def _graph(body: Body, value: Argument) -> Graph:
    assert isinstance(value, GraphRef)
    return body.module.case.subgraph(value.name)


def _items(value: Argument) -> tuple[Argument, ...]:
    return value if isinstance(value, tuple) else (value,)


def _texts(body: Body, values: Sequence[Argument]) -> list[str]:
    return [argument(value, body.refer).text for value in values]


def _names(value: Argument) -> list[str]:
    return list(references(value))


def _group(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else tuple_text(texts)


def _results(count: int) -> object:
    return 0 if count == 1 else tuple(range(count))
