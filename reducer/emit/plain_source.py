"""Under which names does a source tell nothing of the model that it came from?

The model's class is called ``Repro``, others after what they are. Names that everybody uses stay. What the
new names are worth shows when the script is run: if it no longer fails, the old ones are kept.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reducer.core.python_source import ENTRY
from reducer.emit.names import Names
from reducer.emit.scrub import is_telling

#: What the scripts are read by, and what Python and torch call.
_FIXED = frozenset(
    {
        "model",
        "example_inputs",
        "example_kwargs",
        "dynamic_shapes",
        "quantizer",
        "forward",
        "self",
        *ENTRY.values(),
    }
)


def plain_source(source: str) -> str:
    """The source under plain names.

    >>> print(plain_source("def vault(secret): return secret\\nmodel = vault"))
    def function(x):
        return x
    model = function
    """
    tree = ast.parse(source)
    names = dict(_names(tree))
    return ast.unparse(_Renaming(names).visit(tree)) if names else source


def _names(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Old name, new name."""
    taken = Names({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} | _FIXED)
    seen: set[str] = set(_FIXED)
    model = _model_class(tree)
    for name, stems in _defined(tree):
        if name in seen or name.startswith("__"):
            continue
        seen.add(name)
        if name == model:
            yield name, "Repro"
        elif is_telling(name):
            yield name, taken.take_first(stems, stems[-1])


def _model_class(tree: ast.Module) -> str:
    """The class that ``model = Class(...)`` makes one of, if it is the source's own."""
    own = {item.name for item in tree.body if isinstance(item, ast.ClassDef)}
    for item in reversed(tree.body):
        if isinstance(item, ast.Assign) and ast.unparse(item.targets[0]) == "model":
            called = [node.func for node in ast.walk(item.value) if isinstance(node, ast.Call)]
            names = [node.id for node in called if isinstance(node, ast.Name)]
            return next((name for name in names if name in own), "")
    return ""


def _defined(tree: ast.Module) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Names that the source defines, each with what to call it."""
    attributes = [node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
    read = {*attributes, *names}  # a method that nobody here calls is called by its name elsewhere
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield node.name, ("Block", "Part", "Other")
        elif isinstance(node, ast.FunctionDef) and node.name in read:
            yield node.name, ("function", "helper")
        elif isinstance(node, ast.arg):
            yield node.arg, ("x", "y", "z", "value")
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, ("x", "y", "z", "value")
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, ("layer", "part", "value")


class _Renaming(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Every identifier, wherever the syntax has one; paths of submodules."""
        super().generic_visit(node)
        for field in ("name", "id", "attr", "arg"):
            value = getattr(node, field, None)
            if isinstance(value, str) and value in self.names and not isinstance(node, ast.alias):
                setattr(node, field, self.names[value])
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            parts = node.value.split(".")
            if all(part.isidentifier() or part.isdigit() for part in parts):
                node.value = ".".join(self.names.get(part, part) for part in parts)
        return node
