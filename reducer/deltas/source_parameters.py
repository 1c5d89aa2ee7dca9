"""Give a parameter of a source's function the value that every call gives it, or leave it out."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from reducer.core.case import Case
from reducer.core.delta import Edit
from reducer.core.python_source import unparsed

NAME = "source-parameters"
TOGETHER = False

#: What is called when an object of a class is made, or is called itself.
_INIT, _FORWARD = "__init__", "forward"


def edits(case: Case) -> Sequence[Edit]:
    """One for each parameter but ``self``."""
    return [
        Edit(NAME, f"{name}({parameter.arg})", (name, parameter.arg), "left out")
        for name, node in _functions(ast.parse(case.source)).items()
        for number, parameter in enumerate([*node.args.args, *node.args.kwonlyargs])
        if number or parameter.arg != "self"
    ]


def apply(case: Case, edits: Sequence[Edit]) -> Case | None:
    """The source without these parameters, and without what calls give them."""
    source: str | None = case.source
    for edit in sorted(edits, key=lambda edit: str(edit.payload), reverse=True):
        function, parameter = map(str, edit.payload)
        source = source and _without(source, function, parameter)
    return None if source is None else replace(case, source=source)


def _functions(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    """Functions of the module and methods of its classes, by ``name`` or ``Class.name``."""
    found = {}
    for item in tree.body:
        if isinstance(item, ast.FunctionDef):
            found[item.name] = item
        elif isinstance(item, ast.ClassDef):
            methods = [inner for inner in item.body if isinstance(inner, ast.FunctionDef)]
            found |= {f"{item.name}.{inner.name}": inner for inner in methods}
    return found


def _without(source: str, qualified: str, name: str) -> str | None:
    tree = ast.parse(source)
    function = _functions(tree)[qualified]
    owner, arguments = qualified.rpartition(".")[0], function.args
    number = (
        [item.arg for item in arguments.args].index(name) if _is_positional(function, name) else -1
    )
    value: ast.expr | None = None
    if number < 0:
        at = [item.arg for item in arguments.kwonlyargs].index(name)
        del arguments.kwonlyargs[at]
        value = arguments.kw_defaults.pop(at)
    else:
        first_default = len(arguments.args) - len(arguments.defaults)
        if number >= first_default:
            value = arguments.defaults.pop(number - first_default)
        del arguments.args[number]
    position = number - 1 if owner and number > 0 else number
    given = list(_given(tree, function.name, owner, position, name))
    if function.name != _FORWARD and (len({ast.unparse(item) for item in given}) == 1):
        value = given[0]
    if value is not None:
        tree = _Instead(function, name, value).visit(tree)
    return unparsed(tree)


def _is_positional(function: ast.FunctionDef, name: str) -> bool:
    return any(item.arg == name for item in function.args.args)


class _Instead(ast.NodeTransformer):
    """Puts a value in place of a name within one function."""

    def __init__(self, function: ast.FunctionDef, name: str, value: ast.expr) -> None:
        self.function, self.name, self.value = function, name, value
        self.inside = False

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Functions within the one are within it."""
        before, self.inside = self.inside, self.inside or node is self.function
        self.generic_visit(node)
        self.inside = before
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """The value, where the name is read."""
        reads = self.inside and node.id == self.name and isinstance(node.ctx, ast.Load)
        return self.value if reads else node


def _exports(node: ast.Call) -> bool:
    """Whether a call is given a model and its inputs, as ``torch.export.export`` is."""
    name = ast.unparse(node.func).rpartition(".")[2]
    return name.startswith("export") and len(node.args) > 1


def _given(
    tree: ast.AST, function: str, owner: str, position: int, name: str
) -> Iterator[ast.expr]:
    """What calls give the parameter; it is taken away from them, and from the model's inputs."""
    called = owner if function == _INIT else function
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == called:
            keywords = [item for item in node.keywords if item.arg == name]
            if keywords:
                node.keywords.remove(keywords[0])
                yield keywords[0].value
            elif 0 <= position < len(node.args):
                yield node.args.pop(position)
        elif function == _FORWARD and isinstance(node, ast.Call) and _exports(node):
            inputs = node.args[1]
            if isinstance(inputs, ast.Tuple) and 0 <= position < len(inputs.elts):
                yield inputs.elts.pop(position)
        elif function == _FORWARD and isinstance(node, ast.Assign):
            inputs = node.value
            if ast.unparse(node.targets[0]) not in ("example_inputs", "example_kwargs"):
                continue
            if isinstance(inputs, ast.Tuple) and 0 <= position < len(inputs.elts):
                yield inputs.elts.pop(position)
            elif isinstance(inputs, ast.Dict):
                keys = [getattr(key, "value", None) for key in inputs.keys]
                if name in keys:
                    del inputs.keys[keys.index(name)]
                    yield inputs.values.pop(keys.index(name))
