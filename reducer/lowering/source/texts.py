"""Which source ends with the call that fails, whatever form the user handed in?

In each the failing call is made by one function without parameters, named after the stage; all that it needs
is above it, at module level.
"""

from __future__ import annotations

import ast
import sys
import traceback
from collections.abc import Mapping
from typing import Any

import torch

from reducer.core.python_source import ENTRY, is_main_guard, normal
from reducer.core.stage import Stage
from reducer.lowering.construct import resolve

_QUANTIZATION = "from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e"


def of_model_file(text: str, names: Mapping[str, Any], stage: Stage) -> str:
    """The file, with the call that its names are declared for. ``names``: what it defined."""
    lines = [normal(_parsed(text))]
    lines += [f"{name} = get_{name}()" for name in ("model", "example_inputs") if name not in names]
    return joined(
        lines, call(stage, arguments(names), "dynamic_shapes" in names, _quantizes(names))
    )


def of_attribute(subject: str, stage: Stage) -> str:
    """The import of what ``package.module:attribute`` names, and the call."""
    module, _, attribute = subject.partition(":")
    found, beside = resolve(subject), vars(sys.modules[module])
    root = attribute.partition(".")[0]
    lines = [f"from {module} import {root}"]
    if callable(found) and not isinstance(found, torch.nn.Module):
        lines.append(f"model, example_inputs = {attribute}()")
        return joined(lines, call(stage, "*example_inputs", False, False))
    if isinstance(found, tuple):
        lines.append(f"model, example_inputs = {attribute}")
        return joined(lines, call(stage, arguments({"example_inputs": found[1]}), False, False))
    names = {name: getattr(found, name) for name in _DECLARED if hasattr(found, name)}
    if "model" in names:
        lines += [f"{name} = {attribute}.{name}" for name in names]
    else:
        names = {name: beside[name] for name in _DECLARED[1:] if name in beside}
        lines = [f"from {module} import {', '.join([root, *names])}", f"model = {attribute}"]
        if "example_inputs" not in names:
            lines[0] += ", get_example_inputs"
            lines.append("example_inputs = get_example_inputs()")
    return joined(
        lines, call(stage, arguments(names), "dynamic_shapes" in names, _quantizes(names))
    )


_DECLARED = ("model", "example_inputs", "dynamic_shapes", "quantizer")


def of_script(text: str, line: int, stage: Stage) -> str:
    """The script up to the statement of its own that was running at ``line``, which is the call.

    Returns "" if there is no such statement.
    """
    tree = _parsed(text)
    for place, statement in enumerate(tree.body):
        if statement.lineno <= line <= (statement.end_lineno or statement.lineno):
            function = ast.parse(f"def {ENTRY[stage]}():\n    pass").body[0]
            assert isinstance(function, ast.FunctionDef)
            function.body = [statement]
            tree.body[place:] = [function]
            _free(tree, function)
            return normal(ast.fix_missing_locations(tree))
    return ""


def script_line(error: Exception) -> int:
    """The line of the script itself, at module level, from which ``error`` was raised; 0 if none."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno or 0 for frame in frames if frame.name == "<module>"]
    return lines[0] if lines else 0


def call(stage: Stage, given: str, dynamic: bool, quantizes: bool) -> str:
    """The function that makes the call, and what it needs. ``given``: how the inputs are passed on."""
    positional = {
        "*example_inputs": "example_inputs",
        "**example_inputs": "(), example_inputs",
        "*example_inputs, **example_kwargs": "example_inputs, example_kwargs",
    }
    passed = positional.get(given, f"({given},)")
    shapes = ", dynamic_shapes=dynamic_shapes" if dynamic else ""
    name = ENTRY[stage]
    if stage is Stage.EAGER:
        return f"def {name}():\n    return model({given})"
    if not quantizes:
        return (
            f"import torch\ndef {name}():\n    return torch.export.export(model, {passed}{shapes})"
        )
    return f"""\
import torch
{_QUANTIZATION}
def {name}():
    exported = torch.export.export(model, {passed}{shapes})
    prepared = prepare_pt2e(exported.module(), quantizer)
    prepared({given})
    return torch.export.export(convert_pt2e(prepared), {passed}{shapes})"""


def arguments(names: Mapping[str, Any]) -> str:
    """How the example inputs are passed to the model."""
    inputs = names.get("example_inputs")
    if inputs is None and callable(names.get("get_example_inputs")):
        inputs = names["get_example_inputs"]()
    if isinstance(inputs, torch.Tensor):
        return "example_inputs"
    return "**example_inputs" if isinstance(inputs, Mapping) else "*example_inputs"


def _quantizes(names: Mapping[str, Any]) -> bool:
    return names.get("quantizer") is not None


def joined(lines: list[str], function: str) -> str:
    """The lines and below them the function, whose imports come first."""
    tree, added = ast.parse("\n".join(lines)), ast.parse(function)
    present = {ast.unparse(statement) for statement in tree.body}
    future = [item for item in tree.body if getattr(item, "module", "") == "__future__"]
    imports = [item for item in added.body if isinstance(item, ast.Import | ast.ImportFrom)]
    missing = [item for item in imports if ast.unparse(item) not in present]
    rest = [item for item in tree.body if item not in future]
    _free(tree, *(item for item in added.body if isinstance(item, ast.FunctionDef)))
    tree.body = [*future, *missing, *rest, *(item for item in added.body if item not in imports)]
    return normal(tree)


def _free(tree: ast.Module, *functions: ast.FunctionDef) -> None:
    """Give what has the name of one of these functions another: ``export`` is often imported."""
    names = {function.name for function in functions}
    for node in ast.walk(tree):
        if node in functions:
            continue
        if isinstance(node, ast.Name) and node.id in names:
            node.id += "_"
        elif isinstance(node, ast.FunctionDef) and node.name in names and node in tree.body:
            node.name += "_"
        elif isinstance(node, ast.alias) and (node.asname or node.name) in names:
            node.asname = f"{node.asname or node.name}_"


def _parsed(text: str) -> ast.Module:
    """The file as it runs: what is under ``if __name__ == "__main__"`` is at module level."""
    tree = ast.parse(text)
    body: list[ast.stmt] = []
    for statement in tree.body:
        guarded = is_main_guard(statement)
        body += statement.body if guarded else [statement]  # type: ignore[attr-defined]
    tree.body = [single for item in body for single in _each(item)]
    return tree


def _each(statement: ast.stmt) -> list[ast.stmt]:
    """``a, b = x, y`` as two assignments, if neither reads what the other gives."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
        return [statement]
    names, values = statement.targets[0], statement.value
    if not isinstance(names, ast.Tuple) or not isinstance(values, ast.Tuple):
        return [statement]
    given = {node.id for node in ast.walk(names) if isinstance(node, ast.Name)}
    read = {node.id for node in ast.walk(values) if isinstance(node, ast.Name)}
    starred = any(isinstance(item, ast.Starred) for item in (*names.elts, *values.elts))
    if given & read or starred or len(names.elts) != len(values.elts):
        return [statement]
    return [
        ast.copy_location(ast.Assign([name], value), statement)
        for name, value in zip(names.elts, values.elts, strict=True)
    ]
