"""Lower with defaults: without partitioner options, compile config, passes, or a second step.

And without what registers operators of the user's, once none is left.
Where one pass runs alone: without those that run before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from reducer.core.case import Argument, Case
from reducer.core.delta import Edit
from reducer.core.recipe import Construct, Items, Plain, Recipe
from reducer.core.stage import Stage

NAME = "recipe-defaults"
TOGETHER = True
_LISTS = ("partitioners", "transform_passes", "modules")
_CONFIGS = ("compile_config", "executorch_config")


def edits(case: Case) -> list[Edit]:
    """One edit per part of the recipe that can be left out, whole parts before their options."""
    recipe = case.recipe
    found: list[tuple[tuple[Argument, ...], str]] = []
    if recipe.two_steps:
        found.append((("two_steps",), "one step instead of two"))
    for name in _LISTS:
        for place, item in enumerate(getattr(recipe, name)):
            if name == "partitioners" and len(recipe.partitioners) == 1 and _needs_one(recipe):
                continue
            found.append(((name, place), f"without {_short(item)}"))
    for name in _CONFIGS:
        if getattr(recipe, name) is not None:
            found.append(((name,), f"without {name}"))
    if recipe.definitions:
        found.append((("definitions",), "without the user's operators"))
    for place, item in enumerate(recipe.alone.after if recipe.alone else ()):
        found.append((("alone", place), f"without {_short(item)} before it"))
    for name in (*_LISTS, *_CONFIGS):
        whole = getattr(recipe, name)
        if whole is not None:
            for path, label in _inside(whole, (name,)):
                found.append((path, f"without {label}"))
    return [Edit(NAME, f"recipe {'.'.join(map(str, path))}", path, what) for path, what in found]


def apply(case: Case, edits: Sequence[Edit]) -> Case | None:
    """Leave the parts out, later positions first so that earlier ones keep their place.

    None if no partitioner would be left although one is needed.
    """
    recipe = case.recipe
    paths = [edit.payload for edit in edits]
    for path in sorted(
        paths, key=lambda p: [(isinstance(x, int), str(x).zfill(6)) for x in p], reverse=True
    ):
        name = str(path[0])
        if name == "two_steps":
            recipe = replace(recipe, two_steps=False)
        elif name == "definitions":
            recipe = replace(recipe, definitions="")
        elif name == "alone":
            assert recipe.alone is not None
            after = _without(recipe.alone.after, path[1:])
            recipe = replace(recipe, alone=replace(recipe.alone, after=after))  # type: ignore[arg-type]
        elif name in _CONFIGS and len(path) == 1:
            recipe = _with(recipe, name, None)
        else:
            recipe = _with(recipe, name, _without(getattr(recipe, name), path[1:]))
    if not recipe.partitioners and case.recipe.partitioners and _needs_one(recipe):
        return None
    gone = {path[1] for path in paths if path[0] == "partitioners" and len(path) == 2}
    return replace(case, recipe=replace(recipe, backend=_backend(case.recipe, gone)))


def _needs_one(recipe: Recipe) -> bool:
    """Whether the stage that fails does not exist without a partitioner."""
    return recipe.last_stage in (Stage.PARTITION, Stage.PREPROCESS)


def _backend(recipe: Recipe, gone: set[Argument]) -> str:
    """The name without those of the partitioners that are left out, of several."""
    names = recipe.backend.split("+")
    if gone and len(gone) == len(recipe.partitioners):
        return "portable"
    if len(names) != len(recipe.partitioners):
        return recipe.backend
    return "+".join(name for place, name in enumerate(names) if place not in gone)


def _with(recipe: Recipe, name: str, value: object) -> Recipe:
    return replace(recipe, **{name: value})  # type: ignore[arg-type]


def _inside(value: Plain, path: tuple[Argument, ...]) -> Iterator[tuple[tuple[Argument, ...], str]]:
    """Paths of the options within a constructor call, a container or a tuple of calls."""
    if isinstance(value, tuple):
        for place, item in enumerate(value):
            yield from _inside(item, (*path, place))
    elif isinstance(value, Construct):
        for key, item in value.kwargs:
            yield (*path, key), f"{key}="
            yield from _inside(item, (*path, key))
        if value.args:
            last = len(value.args) - 1
            yield (*path, last), f"argument {last} of {_short(value)}"
            yield from (
                found for item in (value.args[last],) for found in _inside(item, (*path, last))
            )
    elif isinstance(value, Items):
        for place, item in enumerate(value.items):
            label = item[0] if value.kind == "dict" and isinstance(item, tuple) else item
            yield (*path, place), f"{label!r}"


def _without(value: Plain, path: tuple[Argument, ...]) -> Plain:
    """The value without what stands at ``path``; unchanged if that is gone already."""
    step, rest = path[0], path[1:]
    if isinstance(value, Construct):
        if isinstance(step, str):
            kept = tuple(
                (key, _without(item, rest) if key == step else item)
                for key, item in value.kwargs
                if key != step or rest
            )
            return replace(value, kwargs=kept)
        return replace(value, args=_without(value.args, path))  # type: ignore[arg-type]
    items = value.items if isinstance(value, Items) else value
    if not isinstance(items, tuple) or not isinstance(step, int) or step >= len(items):
        return value
    middle = (_without(items[step], rest),) if rest else ()
    changed = (*items[:step], *middle, *items[step + 1 :])
    return replace(value, items=changed) if isinstance(value, Items) else changed


def _short(value: Plain) -> str:
    return value.path.rpartition(":")[2] if isinstance(value, Construct) else repr(value)
