"""How do a model and objects in the user's own process become what another process can read?

Used by :mod:`reducer.api`, not by the worker. What is wrong is told by a ReducerError.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch.export import ExportedProgram

from reducer.core.errors import BadInput, NotHandled
from reducer.core.recipe import Construct, Plain, Recipe
from reducer.lowering import backends, recorder
from reducer.lowering.construct import Inexpressible, express
from reducer.lowering.errors import SubjectError, headline
from reducer.lowering.recipes import express_config, express_partitioners

Options = tuple[tuple[str, Plain], ...]


def exported(
    model: Any, inputs: Any, kwargs: Mapping[str, Any] | None, dynamic_shapes: Any
) -> ExportedProgram:
    """The model, exported; ``inputs``: a tuple, a tensor, or a mapping of keyword arguments."""
    if isinstance(model, ExportedProgram):
        return model
    if not isinstance(model, torch.nn.Module):
        raise BadInput(
            f"model is a {type(model).__name__}",
            hint="give a torch.nn.Module, an exported program, or a path",
        )
    named = {**(kwargs or {}), **(inputs if isinstance(inputs, Mapping) else {})}
    given = (inputs,) if isinstance(inputs, torch.Tensor) else tuple(inputs or ())
    args = () if isinstance(inputs, Mapping) else given
    try:
        return torch.export.export(model, args, named, dynamic_shapes=dynamic_shapes)
    except Exception as error:
        raise NotHandled(
            f"torch.export.export fails: {headline(error)}",
            hint="failures of export are not reduced by this version; is it the inputs?",
        ) from error


def save(program: ExportedProgram, path: Path) -> None:
    """Save the program; the folder is made if it does not exist. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.export.save(program, path)


def plain_options(options: Mapping[str, Any]) -> Options:
    """Constructor arguments as data."""
    try:
        return tuple((name, express(value)) for name, value in options.items())
    except Inexpressible as error:
        raise BadInput(f"a backend option cannot be written down: {error.thing}") from error


def lowering(
    partitioner: Any, backend: str | None, options: Options, config: Any, notes: list[str]
) -> tuple[tuple[Construct, ...], Construct | None]:
    """The calls that make the partitioners (given, or of a backend) and the compile config.

    What cannot be told goes to ``notes``: a partitioner's arguments are known only if it was made
    while they were recorded.
    """
    recorder.install()  # too late for what is given now, in time for what is given next
    given = partitioner if isinstance(partitioner, list | tuple) else [partitioner]
    try:
        if partitioner is not None:
            constructs, own = express_partitioners(given, notes.append), None
        else:
            recipe = backends.lowering(backend, options) if backend is not None else Recipe()
            constructs, own = recipe.partitioners, recipe.compile_config
            if recipe.transform_passes:
                raise BadInput(
                    f"backend {backend} brings passes of its own, which go with no compile_config",
                    hint="leave compile_config out",
                )
    except SubjectError as error:
        raise BadInput(error.message, hint=error.hint) from error
    if notes:
        notes.append("give its class as backend, and backend_options, instead of an instance")
    return constructs, express_config(config, notes.append) if config is not None else own
