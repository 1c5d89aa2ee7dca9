"""Which recipe do these ExecuTorch objects stand for?

What cannot be written down as a call is left out, and a note says so. The recipe is judged
afterwards: an option that mattered shows as a failure that is gone, never as a wrong answer.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from reducer.core.recipe import Construct, Plain
from reducer.lowering import recorder
from reducer.lowering.construct import Inexpressible, express, importable_path
from reducer.lowering.errors import SubjectError

Note = Callable[[str], None]


def express_partitioner(partitioner: Any, note: Note) -> Construct:
    """The call that made the partitioner; single arguments without a plain form are left out.

    Raises SubjectError for a class that only the user's script has.
    """
    cls = type(partitioner)
    try:
        path = importable_path(cls)
    except Inexpressible as error:
        raise SubjectError(
            f"partitioner {error.thing}",
            hint=f"move class {cls.__name__} into a module of its own beside the script",
        ) from error
    call = recorder.call_of(partitioner)
    if call is None:
        note(f"how {cls.__name__} was constructed is not known: taken without arguments")
        return Construct(path)
    args, kwargs = call
    try:
        expressed = tuple(express(item) for item in args)
    except Inexpressible:
        # By name, so that the rest can be given without it.
        bound = inspect.signature(cls).bind(*args, **kwargs)
        expressed, kwargs = (), _by_name(bound)
    return Construct(path, expressed, _expressible(kwargs, cls.__name__, note))


def express_partitioners(given: Any, note: Note) -> tuple[Construct, ...]:
    """The calls that made a list of partitioners. Raises SubjectError if it is no list."""
    if given is None:
        return ()
    if not isinstance(given, Sequence):
        raise SubjectError(
            f"partitioner={type(given).__name__}(...) is not a list",
            hint="to_edge_transform_and_lower takes partitioner=[...]",
        )
    return tuple(express_partitioner(item, note) for item in given)


def express_config(config: Any, note: Note) -> Construct | None:
    """The call that makes a compile or backend config; None for none, or one of defaults only."""
    if config is None:
        return None
    try:
        found = express(config)
    except Inexpressible as error:
        found = _without_inexpressible_fields(config, error, note)
    if not isinstance(found, Construct):
        return None
    return found if found.args or found.kwargs else None


def express_passes(passes: Any, method: str, note: Note) -> tuple[Construct, ...]:
    """The calls that make one method's transform passes; what has no plain form is left out."""
    if isinstance(passes, dict):
        passes = passes.get(method, ())
    if not isinstance(passes, Sequence):
        if passes is not None:
            note(f"transform passes in a {type(passes).__name__} are left out")
        return ()
    found = []
    for item in passes:
        try:
            expressed = express(item)
        except Inexpressible as error:
            note(f"a transform pass is left out: {error.thing}")
            continue
        if isinstance(expressed, Construct):
            found.append(expressed)
    return tuple(found)


def _without_inexpressible_fields(
    config: Any, error: Inexpressible, note: Note
) -> Construct | None:
    try:
        path = importable_path(type(config))
    except Inexpressible:
        note(f"{type(config).__name__} is left out: {error.thing}")
        return None
    kept = []
    default = type(config)()
    for name, value in vars(config).items():
        if getattr(default, name, None) is value:
            continue
        trial = type(config)()
        setattr(trial, name, value)
        try:
            single = express(trial)
        except Inexpressible as inner:
            note(f"{type(config).__name__}({name}=...) is left out: {inner.thing}")
            continue
        if isinstance(single, Construct):
            kept += [pair for pair in single.kwargs if pair[0] == name]
    return Construct(path, kwargs=tuple(kept))


def _by_name(bound: inspect.BoundArguments) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        kind = bound.signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_KEYWORD:
            named.update(value)
        elif kind is not inspect.Parameter.VAR_POSITIONAL:
            named[name] = value
    return named


def _expressible(kwargs: dict[str, Any], owner: str, note: Note) -> tuple[tuple[str, Plain], ...]:
    found: list[tuple[str, Plain]] = []
    for name, value in kwargs.items():
        try:
            found.append((name, express(value)))
        except Inexpressible as error:
            note(f"{owner}({name}=...) is left out: {error.thing}")
    return tuple(found)
