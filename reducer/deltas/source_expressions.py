"""Put a part of an expression of a source in place of the whole, or leave out one of its items."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from dataclasses import replace

from reducer.core.case import Case
from reducer.core.delta import Edit
from reducer.core.python_source import Change, keyed, shown, with_replaced

NAME = "source-expressions"
TOGETHER = False

#: Lists of items any of which may be left out, by the kind of the expression.
_ITEMS = {
    ast.Call: ("keywords", "args"),
    ast.Tuple: ("elts",),
    ast.List: ("elts",),
    ast.ClassDef: ("bases",),
}


def edits(case: Case) -> Sequence[Edit]:
    """For each expression its parts, first ones first; a layer may also become ``Identity``."""
    found = []
    inputs = _inputs(case.source)
    for key, (_, node) in keyed(case.source).items() if case.source else ():
        if not isinstance(node, ast.expr | ast.ClassDef) or _stores(node):
            continue
        element = shown(key)
        if isinstance(node, ast.expr) and key not in inputs:
            for number, part in enumerate(_parts(node)):
                found.append(Edit(NAME, element, (key, "part", number), ast.unparse(part)))
        for name in _ITEMS.get(type(node), ()):
            for number, item in enumerate(getattr(node, name)):
                what = f"without {ast.unparse(item)}"
                found.append(Edit(NAME, element, (key, name, number), what))
        if isinstance(node, ast.Call) and _is_layer(node) and "import torch\n" in case.source:
            found.append(Edit(NAME, element, (key, "identity", 0), "torch.nn.Identity()"))
    return found


def apply(case: Case, edits: Sequence[Edit]) -> Case | None:
    """The source with these changed; None if one is within another."""
    changes: dict[int, Change] = {}
    for edit in edits:
        key, how, number = edit.payload
        place, known = keyed(case.source)[str(key)]
        node = copy.deepcopy(known)
        if how == "identity":
            changes[place] = ast.parse("torch.nn.Identity()", mode="eval").body
        elif how == "part":
            changes[place] = list(_parts(node))[int(number)]  # type: ignore[arg-type]
        else:
            items = getattr(node, str(how))
            setattr(node, str(how), [item for at, item in enumerate(items) if at != number])
            changes[place] = node
    text = with_replaced(case.source, changes)
    return None if text is None else replace(case, source=text)


def _inputs(source: str) -> set[str]:
    """Keys of what ``example_inputs`` is: a tuple that stays one."""
    values = [
        item.value
        for item in ast.parse(source).body
        if isinstance(item, ast.Assign)
        and ast.unparse(item.targets[0]) in ("example_inputs", "example_kwargs")
    ]
    return {f"{ast.unparse(value)} #1" for value in values}


def _parts(node: ast.AST) -> Iterator[ast.expr]:
    """Expressions within that may stand for the whole."""
    if isinstance(node, ast.Call):
        yield from (item.value if isinstance(item, ast.Starred) else item for item in node.args)
        yield from (item.value for item in node.keywords)
        if isinstance(node.func, ast.Attribute):
            yield node.func.value
    elif isinstance(node, ast.Lambda):
        yield node.body
    elif not isinstance(node, ast.JoinedStr | ast.Name | ast.Constant | ast.Starred):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr) and not isinstance(child, ast.Slice | ast.Starred):
                yield child


def _stores(node: ast.AST) -> bool:
    return not isinstance(getattr(node, "ctx", ast.Load()), ast.Load)


def _is_layer(node: ast.Call) -> bool:
    """Whether it may make a module: what is called has a class's name.

    >>> [_is_layer(ast.parse(text).body[0].value) for text in ("nn.Linear(2, 2)", "f(x)")]
    [True, False]
    """
    name = ast.unparse(node.func).rpartition(".")[2]
    return name[:1].isupper() and name != "Identity"
