"""Which of the user's own modules does a case need, where it is no longer the user's process?

A pass or partitioner of the user's is imported by name; a custom operator exists once the module that
registers it was imported. Their sources are kept beside the case's tensors, and go beside the script.
"""

from __future__ import annotations

import importlib
import re
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

import torch

from reducer.core.case import Case, Graph
from reducer.core.files import modules_folder
from reducer.lowering.errors import SubjectError, headline
from reducer.lowering.script import is_users


def operators() -> frozenset[str]:
    """All operators that are registered now, as ``namespace::name.overload``."""
    return frozenset(torch._C._dispatch_get_all_op_names())


def keep(
    case: Case, subject: Path | None, known: frozenset[str], before: frozenset[str], data: str
) -> tuple[str, ...]:
    """Copy the user's modules that were loaded since ``known``; return those that register operators.

    ``before`` are the operators that need no such module. ``subject`` is the file that ran as
    ``__main__``, which is kept only if it registers some.
    """
    found = {}
    for name, module in list(sys.modules.items()):
        filename = getattr(module, "__file__", None) if name not in known else None
        if isinstance(filename, str) and name != "__main__" and is_users(filename):
            found[name] = Path(filename)
    spaces = {space for target in _targets(case) if (space := _namespace(target, before))}
    main = {subject.stem: subject} if subject is not None and subject.stem.isidentifier() else {}
    registering = tuple(
        name
        for name, path in {**found, **main}.items()
        if any(re.search(rf"\b{space}\b", path.read_text(errors="replace")) for space in spaces)
    )
    folder = modules_folder(Path(data))
    for name, path in {**found, **{n: p for n, p in main.items() if n in registering}}.items():
        if "." not in name:
            _copy(path, name, folder)
    return registering


def provide(case: Case, data: str) -> None:
    """Make the modules importable here, and import those that register operators.

    Raises SubjectError.
    """
    folder = modules_folder(Path(data))
    if folder.exists() and str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    for name in case.recipe.modules:
        try:
            importlib.import_module(name)
        except Exception as error:
            raise SubjectError(
                f"{name}, which registers operators, raises {headline(error)}"
            ) from error


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
