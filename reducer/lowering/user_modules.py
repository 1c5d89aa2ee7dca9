"""Which of the user's own modules does a case need, where it is no longer the user's process?

A pass or partitioner of the user's is imported by name; their sources are kept beside the case's
tensors, and go beside the script. A custom operator exists once the code that registers it ran: that code
goes into the script where it can.
"""

from __future__ import annotations

import ast
import importlib
import linecache
import re
import shutil
import sys
import types
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

import torch

from reducer.core.case import Case, Graph
from reducer.core.files import modules_folder
from reducer.lowering.errors import SubjectError, headline
from reducer.lowering.registrations import registering_source
from reducer.lowering.script import is_users


def operators() -> frozenset[str]:
    """All operators that are registered now, as ``namespace::name.overload``."""
    return frozenset(torch._C._dispatch_get_all_op_names())


@dataclass(frozen=True)
class Needed:
    """What a case needs of the user's: modules to import, and source that registers operators."""

    modules: tuple[str, ...] = ()
    definitions: str = ""


def keep(
    case: Case, subject: Path | None, known: frozenset[str], before: frozenset[str], data: str
) -> Needed:
    """Copy the user's modules that were loaded since ``known``; return what registers operators.

    ``before`` are the operators that need nothing. ``subject`` is the file that ran as
    ``__main__``. What stands by itself is taken out of its file as source; else its module is imported.
    """
    spaces = {space for target in _targets(case) if (space := _namespace(target, before))}
    loaded = {
        name: Path(filename)
        for name, module in list(sys.modules.items())
        if name not in known and name != "__main__"
        if isinstance(filename := getattr(module, "__file__", None), str)
        and filename.endswith(".py")
    }
    users = {name: path for name, path in loaded.items() if is_users(str(path))}
    main = {subject.stem: subject} if subject is not None and subject.stem.isidentifier() else {}
    modules, definitions = [], []
    for name, path in {**loaded, **main}.items():
        if not spaces or not _mentions(path, spaces):
            continue
        source = _alone(path, spaces, users) if name in {**users, **main} else ""
        if source:
            definitions.append(source)
        else:
            modules.append(name)
    folder = modules_folder(Path(data))
    for name, path in {**users, **{n: p for n, p in main.items() if n in modules}}.items():
        if "." not in name:
            _copy(path, name, folder)
    return Needed(tuple(modules), "\n\n".join(definitions))


def provide(case: Case, data: str) -> None:
    """Make the modules importable here, and register the operators that the case needs.

    Raises SubjectError.
    """
    make_importable(data)
    for name in case.recipe.modules:
        try:
            importlib.import_module(name)
        except Exception as error:
            raise SubjectError(
                f"{name}, which registers operators, raises {headline(error)}"
            ) from error
    if case.recipe.definitions:
        try:
            run_source(case.recipe.definitions, "reduce_operators")
        except Exception as error:
            raise SubjectError(
                f"the source that registers operators raises {headline(error)}"
            ) from error


def make_importable(data: str) -> None:
    """Let the user's modules beside a case's tensors be imported."""
    folder = modules_folder(Path(data))
    if folder.exists() and str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def run_source(source: str, name: str) -> types.ModuleType:
    """Run source as a module of that name: dynamo looks functions up there, and reads their source."""
    filename = f"<{name}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    sys.modules[name] = module = types.ModuleType(name)
    module.__file__ = filename
    exec(compile(source, filename, "exec"), module.__dict__)
    return module


def _mentions(path: Path, spaces: Iterable[str]) -> bool:
    """Whether a file has one of the namespaces in a string: ``"ns"`` or ``"ns::name"``."""
    text = path.read_text(errors="replace")
    return any(re.search(rf"""["']{space}(::|["'])""", text) for space in spaces)


def _alone(path: Path, spaces: Collection[str], users: Iterable[str]) -> str:
    """The source that registers the operators, if it needs nothing else of the user's; else ""."""
    try:
        source = registering_source(path.read_text(), spaces)
    except (OSError, SyntaxError, ValueError):
        return ""
    imported = {
        name.partition(".")[0]
        for node in ast.walk(ast.parse(source))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    return "" if imported & {name.partition(".")[0] for name in users} else source


def _copy(path: Path, name: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    if path.name == "__init__.py":
        ignored = shutil.ignore_patterns("__pycache__", "*.pt*", "*.safetensors")
        shutil.copytree(path.parent, folder / name, ignore=ignored, dirs_exist_ok=True)
    else:
        shutil.copy(path, folder / f"{name}.py")


def _targets(case: Case) -> Iterable[str]:
    graphs: list[Graph] = [case.graph, *(graph for _, graph in case.subgraphs)]
    return {node.target for graph in graphs for node in graph.nodes}


def _namespace(target: str, before: frozenset[str]) -> str:
    """The namespace of an operator that was not there before, else ""."""
    if ":" in target or target.startswith("higher_order."):
        return ""
    space, name, overload = (*target.split("."), "default")[:3]
    full = f"{space}::{name}" if overload == "default" else f"{space}::{name}.{overload}"
    return "" if full in before else space
