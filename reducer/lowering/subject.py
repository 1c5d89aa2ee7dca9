"""What did the user hand in? A model file, a script that lowers, a .pt2, or module:attribute."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import nn
from torch.export import ExportedProgram

from reducer.lowering.construct import resolve
from reducer.lowering.declared import EXAMPLE, Declared, declares, read
from reducer.lowering.errors import SubjectError, headline
from reducer.lowering.observed import Record
from reducer.lowering.script import check_readable, raised, run


@dataclass(frozen=True)
class Script:
    """A script that exported and lowered by itself while it was observed; ``name`` as handed in."""

    record: Record
    name: str


@dataclass(frozen=True)
class Subject:
    """What was found, and in which form (a phrase for the user). ``path`` None: not one file."""

    form: str
    content: Declared | ExportedProgram | Script
    path: Path | None = None


def load(subject: str, argv: Sequence[str], record: Record) -> Subject:
    """Run or read what the user handed in, once. ``record`` is filled by the observer meanwhile.

    Raises SubjectError for everything that is none of the forms.
    """
    path = Path(subject).expanduser()
    if ":" in subject and not path.exists() and not path.suffix.startswith((".py", ".pt")):
        return _attribute(subject)
    if path.suffix == ".pt2":
        return Subject(".pt2 file", _exported_file(path), path)
    return _python_file(path, argv, record)


def _exported_file(path: Path) -> ExportedProgram:
    check_readable(path, "a .pt2 from torch.export.save")
    try:
        return torch.export.load(path)
    except Exception as error:
        raise SubjectError(
            f"{path} cannot be loaded as an exported program: {headline(error)}",
            hint="write it with torch.export.save(program, path), under the torch in use here"
            f" ({torch.__version__}); custom operators must be registered first",
        ) from error


def _python_file(path: Path, argv: Sequence[str], record: Record) -> Subject:
    place = path.absolute()  # now: a script may change the folder
    module, record.ending = run(path, argv)
    names = vars(module)
    exits = isinstance(record.ending, SystemExit) and record.ending.code in (None, 0)
    if not record.lowered and declares(names) and (record.ending is None or exits):
        return Subject("model file", _declared(names, str(path)), place)
    if record.ending is not None and record.decisive() is None:
        raise raised(record.ending, str(path)) from record.ending
    if record.calls:
        return Subject("script", Script(record, str(path)), place)
    if "example_inputs" in names or "get_example_inputs" in names:
        read(names, str(path))  # says that the model is missing
    raise SubjectError(
        f"{path} defines no model and lowers none",
        hint="looked for: model and example_inputs at module level; get_model() and"
        " get_example_inputs(); calls of torch.export.export and to_edge_transform_and_lower or"
        f" to_edge. For example:\n{EXAMPLE}",
    )


def _declared(names: Mapping[str, Any], where: str) -> Declared | ExportedProgram:
    if isinstance(names.get("model"), ExportedProgram):
        program: ExportedProgram = names["model"]
        return program
    return read(names, where)


def _attribute(subject: str) -> Subject:
    """``package.module:attribute``, imported from the current folder or from what is installed."""
    sys.path.insert(0, str(Path.cwd()))
    found = resolve(subject)
    module = sys.modules[subject.partition(":")[0]]
    is_model = isinstance(found, nn.Module | ExportedProgram) or _has_both(found)
    if callable(found) and not is_model:
        found = _called(found, subject)
    return Subject("attribute", _of_attribute(found, module, subject))


def _called(function: Any, subject: str) -> Any:
    try:
        return function()
    except Exception as error:
        raise raised(error, f"{subject}()") from error


def _of_attribute(found: Any, module: ModuleType, subject: str) -> Declared | ExportedProgram:
    if isinstance(found, ExportedProgram):
        return found
    if isinstance(found, nn.Module) and not _has_both(found):
        return read({**vars(module), "model": found}, module.__name__)
    if isinstance(found, tuple) and len(found) == 2:
        return read({"model": found[0], "example_inputs": found[1]}, f"what {subject} returns")
    if _has_both(found):
        optional = (
            "dynamic_shapes", "quantizer", "partitioner", "compile_config", "check_inputs"
        )  # fmt: skip
        names = {name: getattr(found, name) for name in optional if hasattr(found, name)}
        both = {"model": found.model, "example_inputs": found.example_inputs}
        return read({**names, **both}, subject)
    raise SubjectError(
        f"{subject} is a {type(found).__name__}",
        hint="it should be a torch.nn.Module with example_inputs beside it, a function that returns"
        " (model, example_inputs), or an object with these two attributes",
    )


def _has_both(thing: Any) -> bool:
    return hasattr(thing, "model") and hasattr(thing, "example_inputs")
