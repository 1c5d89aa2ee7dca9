"""Which backends are there, and which one does a name mean?

One file per backend, imported on use: every partitioner of ExecuTorch's wheel, and what lowers without
one.
"""

from __future__ import annotations

import difflib
from dataclasses import replace
from importlib import import_module

from reducer.core.recipe import Construct, Recipe
from reducer.core.wire import Backends
from reducer.lowering.backends.backend import Backend, Options
from reducer.lowering.errors import SubjectError

_PACKAGE = "reducer.lowering.backends"

#: Imported fast, and by a warm worker already: those that a finding is tried with as well.
LIGHT = ("vulkan", "webgpu", "xnnpack", "portable")

NAMES: tuple[str, ...] = (
    *LIGHT,
    "coreml",
    "coreai",
    "metal",
    "mps",
    "mlx",
    "qualcomm",
    "tosa",
    "ethosu",
    "vgf",
    "cortex_m",
    "openvino",
    "samsung",
    "mediatek",
    "nxp",
    "cadence",
    "cuda",
    "aoti",
    "native",
    "example",
)


def find(name: str) -> Backend:
    """The backend that ``--backend name`` means: a listed one, or any ``package.module:Class``.

    Raises SubjectError for a name that is neither.
    """
    if name in NAMES:
        found: Backend = import_module(f"{_PACKAGE}.{name}").BACKEND
        return found
    if ":" in name:
        return Backend(name, name)
    close = difflib.get_close_matches(name, NAMES, n=1)
    raise SubjectError(
        f"no backend is called {name!r}" + (f"; did you mean {close[0]!r}?" if close else ""),
        hint=f"one of {', '.join(LIGHT)}, others from `reduce backends`, or package.module:Class",
    )


def lowering(names: str, options: Options = ()) -> Recipe:
    """The recipe of a backend under ``options``, or of several (``xnnpack,vulkan``), in that order.

    Of several, options are of one each: ``xnnpack.per_op_mode``; what else is passed to ExecuTorch
    is what the first asks for. Raises SubjectError.
    """
    chosen = [find(name.strip()) for name in names.split(",")]
    if len(chosen) == 1:
        recipe = chosen[0].lowering(options)
        return replace(recipe, backend=name_of(recipe.partitioners)) if ":" in names else recipe
    own = _options_of_each(chosen, options)
    for backend in chosen:
        if not backend.partitioner:
            raise SubjectError(
                f"backend {backend.name} has no partitioner to be one of several",
                hint=f"leave it out of {names!r}: what no partitioner takes stays portable",
            )
    recipes = [backend.lowering(own[backend.name]) for backend in chosen]
    partitioners = tuple(item for recipe in recipes for item in recipe.partitioners)
    return replace(recipes[0], backend=name_of(partitioners), partitioners=partitioners)


def _options_of_each(chosen: list[Backend], options: Options) -> dict[str, Options]:
    own: dict[str, Options] = {backend.name: () for backend in chosen}
    for key, value in options:
        name, _, rest = key.partition(".")
        if name not in own or not rest:
            raise SubjectError(
                f"backend option {key!r} does not say which of {', '.join(own)} it is for",
                hint=f"write for example {chosen[0].name}.{key.rpartition('.')[2]}=...",
            )
        own[name] = (*own[name], (rest, value))
    return own


def name_of(partitioners: tuple[Construct, ...]) -> str:
    """The name under which a list of partitioners is reported; their paths where none is listed."""
    listed = {found.partitioner: found.name for found in map(find, NAMES) if found.partitioner}
    return "+".join(listed.get(item.path, item.path) for item in partitioners) or "portable"


def status(*, few: bool = False) -> Backends:
    """Every listed backend, usable here or not, and why. Imports all of them: seconds.

    ``few``: those that a warm worker has mostly imported already.
    """
    return Backends(tuple(find(name).status() for name in (LIGHT if few else NAMES)))
