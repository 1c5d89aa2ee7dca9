"""From what the user handed in to source that fails in the same way: whole, and the parts at fault."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from reducer.core.case import Case, Graph
from reducer.core.python_source import ENTRY, normal
from reducer.core.recipe import Recipe
from reducer.core.signature import Failure
from reducer.core.stage import Stage
from reducer.lowering.declared import Declared
from reducer.lowering.script import user_modules
from reducer.lowering.source import texts
from reducer.lowering.source.submodules import Unwritable, construction, failing_submodule, written


def source_case(source: str, stage: Stage) -> Case:
    """The case around a source."""
    return Case(Graph((), (), ()), Recipe("none", last_stage=stage), source=source)


def smaller_sources(
    whole: str, declared: Declared | None, failure: Failure, known: frozenset[str]
) -> tuple[str, ...]:
    """Sources that may fail in the same way, what is most worth trying first.

    The submodule at fault alone, made anew or taken out of the model; the user's modules written into
    the source. ``known`` are the modules that were loaded before the user's.
    """
    modules = {
        name: filename for name, filename in user_modules(known).items() if name != "__main__"
    }
    found: list[str] = []
    alone = list(_submodule(whole, declared, failure)) if declared is not None else []
    for source in [*alone, whole]:
        inlined = _inlined(source, modules)
        found += [text for text in (inlined, source) if text not in (*found, whole)]
    return tuple(found)


def _submodule(whole: str, declared: Declared, failure: Failure) -> Iterator[str]:
    found = failing_submodule(
        declared.model, (declared.args, declared.kwargs), failure.stage, failure
    )
    if found is None:
        return
    path, (args, kwargs) = found
    try:
        lines = [
            f"example_inputs = {written(dict(kwargs) if kwargs and not args else tuple(args))}"
        ]
        if args and kwargs:
            lines.append(f"example_kwargs = {written(dict(kwargs))}")
    except Unwritable:
        return
    passed = "**example_inputs" if kwargs and not args else "*example_inputs"
    if args and kwargs:
        passed += ", **example_kwargs"
    names = vars(sys.modules["__main__"])
    call = texts.call(failure.stage, passed, False, declared.quantizer is not None)
    inputs = "\n".join([*lines, call])
    replaced = {ENTRY[failure.stage]}
    with suppress(Unwritable):
        made, imports = construction(declared.model.get_submodule(path), names)
        ending = "\n".join([*sorted(imports), f"model = {made}", inputs])
        yield _with(whole, {*replaced, "model", "example_inputs", "dynamic_shapes"}, ending)
    taken = f"model = model.get_submodule({path!r})"
    yield _with(whole, replaced, f"{taken}\n{inputs}")


def _with(whole: str, replaced: set[str], ending: str) -> str:
    """The source with another ending, without what defines the names that this replaces."""
    tree = ast.parse(whole)
    tree.body = [item for item in tree.body if not replaced & set(_given(item))]
    return texts.joined([ast.unparse(tree)], ending)


def _given(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.Assign):
        return [ast.unparse(target) for target in statement.targets]
    return [statement.name] if isinstance(statement, ast.FunctionDef) else []


def _inlined(source: str, modules: dict[str, str]) -> str:
    """The source with ``from module import ...`` of the user's modules replaced by their text."""
    done: set[str] = set()

    def body_of(text: str) -> list[Any]:
        body: list[Any] = []
        for statement in ast.parse(text).body:
            name = getattr(statement, "module", None)
            plain = isinstance(statement, ast.ImportFrom) and not any(
                alias.asname or alias.name == "*" for alias in statement.names
            )
            path = modules.get(str(name), "")
            if not (plain and path.endswith(".py")):
                body.append(statement)
                continue
            if name not in done:
                done.add(str(name))
                with open(path, encoding="utf-8") as file:
                    body += body_of(file.read())
        return body

    try:
        body = body_of(source)
    except (OSError, SyntaxError, UnicodeDecodeError):
        return source
    seen: set[str] = set()
    kept: list[ast.stmt] = []
    for statement in body:
        text = ast.unparse(statement)
        if isinstance(statement, ast.Import | ast.ImportFrom):
            if text in seen:
                continue
            seen.add(text)
        kept.append(statement)
    future = [item for item in kept if getattr(item, "module", "") == "__future__"]
    tree = ast.Module([*future, *(item for item in kept if item not in future)], [])
    return normal(tree)
