"""How is a case lowered? Backend, partitioners with their options, compile config, last stage.

Objects of ExecuTorch appear as :class:`Construct`: the call that makes them. That is data which can
be stored, shrunk towards defaults, and printed as the Python that a user would have written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Union

from reducer.core.property import Property
from reducer.core.stage import Stage


@dataclass(frozen=True)
class Construct:
    """``path(*args, **kwargs)``, where ``path`` is ``package.module:attribute.attribute``.

    With ``call`` False it is the attribute itself (an enum member, a class, a function).
    """

    path: str
    args: tuple[Plain, ...] = ()
    kwargs: tuple[tuple[str, Plain], ...] = ()
    call: bool = True


@dataclass(frozen=True)
class Items:
    """A list, dict or set among constructor arguments; a dict's items are ``(key, value)`` tuples."""

    kind: str
    items: tuple[Plain, ...] = ()


#: Constructor arguments: numbers, text, bytes, tuples, containers, and further calls.
Plain = Union[None, bool, int, float, str, bytes, Construct, Items, "tuple[Plain, ...]"]


#: In the arguments that a pass is constructed with: the program whose graph it is run on.
THE_PROGRAM = Construct("the program", call=False)


@dataclass(frozen=True)
class PassCall:
    """One run of one compiler pass on a graph as it stands.

    ``construct`` makes the pass, or names the function that is one. ``takes`` is what it is called
    with: ``graph``, a ``GraphModule``, or ``program``, the ``ExportedProgram`` around it. ``after``
    are passes that are run before it, for what they note at the nodes.
    """

    construct: Construct
    takes: str = "graph"
    after: tuple[Construct, ...] = ()

    @property
    def needs_program(self) -> bool:
        """Whether there has to be a program around the graph."""
        arguments = (*self.construct.args, *(value for _, value in self.construct.kwargs))
        return self.takes == "program" or THE_PROGRAM in arguments

    @property
    def name(self) -> str:
        """The name of its class or function."""
        return self.construct.path.rpartition(":")[2].rpartition(".")[2]


@dataclass(frozen=True)
class Recipe:
    """How to lower: what a user passes to ExecuTorch's functions.

    ``backend``
        the name it is reported under; ``partitioners`` is what counts.
    ``two_steps``
        ``to_edge(...)`` and then ``.to_backend(...)``, instead of ``to_edge_transform_and_lower``.
    ``last_stage``
        the stage after which lowering stops, since the failure is no later.
    ``modules``
        names of modules that register operators when they are imported.
    ``definitions``
        source that registers operators of the user's.
    ``rtol``, ``atol``
        what counts as rounding when the ``.pte`` is compared, as a share of the largest number
        expected and absolute; None: by dtype.
    ``asked``
        a property that what it is lowered to should not have: then that is the failure.
    ``alone``
        instead of all that: the case is a graph in the middle of lowering, made by hand, and this
        one pass is run on it. Inputs of role ``constant`` are those whose fake value carries the
        real tensor.
    """

    backend: str = "portable"
    partitioners: tuple[Construct, ...] = ()
    compile_config: Construct | None = None
    transform_passes: tuple[Construct, ...] = ()
    executorch_config: Construct | None = None
    two_steps: bool = False
    last_stage: Stage = Stage.TO_EXECUTORCH
    modules: tuple[str, ...] = ()
    definitions: str = ""
    rtol: float | None = None
    atol: float | None = None
    alone: PassCall | None = None
    asked: Property | None = None


def packages(recipe: Recipe) -> set[str]:
    """The modules from which the recipe's objects are imported."""
    return {part.path.partition(":")[0] for part in _parts(recipe) if isinstance(part, Construct)}


def texts(recipe: Recipe) -> list[str]:
    """What the user's options and definitions say in words."""
    found = [part for part in _parts(recipe) if isinstance(part, str | bytes)]
    words = [part if isinstance(part, str) else part.decode(errors="replace") for part in found]
    return [*words, recipe.definitions, recipe.asked.source if recipe.asked else ""]


def _parts(recipe: Recipe) -> Iterator[object]:
    """All that the recipe's objects are made of, down to numbers and words."""
    pending: list[object] = [
        recipe.partitioners, recipe.transform_passes, recipe.compile_config, recipe.executorch_config
    ]  # fmt: skip
    if recipe.alone is not None:
        pending += [recipe.alone.construct, recipe.alone.after]
    while pending:
        item = pending.pop()
        yield item
        if isinstance(item, Construct):
            pending += [item.args, tuple(value for _, value in item.kwargs)]
        elif isinstance(item, Items):
            pending.append(item.items)
        elif isinstance(item, tuple):
            pending.extend(item)
