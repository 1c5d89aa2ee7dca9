"""What is a backend, to a lowering? A partitioner, its options, and whether it works here."""

from __future__ import annotations

import inspect
from dataclasses import dataclass

from reducer.core.recipe import Construct, Items, Plain
from reducer.core.wire import BackendStatus
from reducer.lowering.construct import build, resolve
from reducer.lowering.errors import SubjectError


@dataclass(frozen=True)
class Backend:
    """A way to lower, under the name by which a user asks for it.

    ``partitioner``
        ``package.module:Class``; "" for lowering without a delegate.
    ``options_argument``
        the constructor argument, a dict, that takes all options which are not themselves arguments
        of the constructor; "" if there is none.
    ``preload``
        modules that lowering imports on the way; a warm worker has them already.
    ``needs``
        what makes it usable where it is not.
    """

    name: str
    partitioner: str = ""
    options_argument: str = ""
    preload: tuple[str, ...] = ()
    needs: str = ""

    def constructs(self, options: tuple[tuple[str, Plain], ...] = ()) -> tuple[Construct, ...]:
        """The partitioners' constructor calls under ``options``. Raises SubjectError."""
        if not self.partitioner:
            if options:
                names = ", ".join(name for name, _ in options)
                raise SubjectError(
                    f"backend {self.name} has no partitioner, so it takes no options ({names})",
                    hint="leave --backend-option out, or choose another --backend",
                )
            return ()
        if not self.options_argument:
            return (Construct(self.partitioner, kwargs=options),)
        arguments = inspect.signature(resolve(self.partitioner)).parameters
        kwargs = {name: value for name, value in options if name in arguments}
        rest = tuple((name, value) for name, value in options if name not in arguments)
        if rest:
            given = kwargs.get(self.options_argument, Items("dict"))
            items = given.items if isinstance(given, Items) else ()
            kwargs[self.options_argument] = Items("dict", (*items, *rest))
        return (Construct(self.partitioner, kwargs=tuple(kwargs.items())),)

    def status(self) -> BackendStatus:
        """Whether its partitioner can be made here; if not, what is missing. Imports its module."""
        if not self.partitioner:
            return BackendStatus(self.name, True, "no partitioner: portable kernels only")
        construct = Construct(self.partitioner)
        try:
            required = _required_arguments(resolve(self.partitioner))
            if not required:
                build(construct)
        except SubjectError as error:
            return BackendStatus(self.name, False, _with_hint(error.message, self.needs), construct)
        reason = f"its partitioner needs {', '.join(required)}" if required else ""
        return BackendStatus(self.name, True, reason, construct)


def _required_arguments(cls: type) -> list[str]:
    parameters = inspect.signature(cls).parameters.values()
    positional = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in parameters if p.default is p.empty and p.kind not in positional]


def _with_hint(message: str, needs: str) -> str:
    return f"{message}; needs {needs}" if needs else message
