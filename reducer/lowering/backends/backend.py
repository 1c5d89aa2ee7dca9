"""What is a backend, to a lowering? A partitioner, its options, and whether it works here."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace

from reducer.core.recipe import Construct, Items, Plain, Recipe
from reducer.core.wire import BackendStatus
from reducer.lowering.construct import build, import_module, resolve
from reducer.lowering.errors import SubjectError

Options = tuple[tuple[str, Plain], ...]

_COMPILE_SPEC = "executorch.exir.backend.compile_spec_schema:CompileSpec"

#: The compile config of many recipes: the backend's own passes leave what the verifier does not take.
UNCHECKED = Construct("executorch.exir:EdgeCompileConfig", kwargs=(("_check_ir_validity", False),))


@dataclass(frozen=True)
class Backend:
    """A way to lower, under the name by which a user asks for it.

    ``partitioner``
        ``package.module:Class``; "" for lowering without a delegate.
    ``arguments``
        what a user gives its constructor if nothing special is wanted: ExecuTorch's own recipe or
        example. Options replace them.
    ``options_argument``
        the constructor argument that takes all options which are not themselves arguments of the
        constructor: a dict; a call, which takes them by name; or a list of compile specs, one of
        which is made of each. "" if there is none.
    ``recipe``
        what else a user passes to ExecuTorch's functions, the partitioners left out.
    ``imports``
        modules that lowering imports on the way, and does not work without.
    ``obstacle``
        says why it does not work here although all can be imported; "" if it does.
    ``needs``
        what makes it usable where it is not.
    """

    name: str
    partitioner: str = ""
    arguments: Options = ()
    options_argument: str = ""
    recipe: Callable[[], Recipe] = Recipe
    imports: tuple[str, ...] = ()
    obstacle: Callable[[], str] = lambda: ""
    needs: str = ""

    def lowering(self, options: Options = ()) -> Recipe:
        """How it lowers under ``options``, as a recipe. Raises SubjectError."""
        return replace(self.recipe(), backend=self.name, partitioners=self.constructs(options))

    def constructs(self, options: Options = ()) -> tuple[Construct, ...]:
        """The partitioners' constructor calls under ``options``. Raises SubjectError."""
        if not self.partitioner:
            if options:
                names = ", ".join(name for name, _ in options)
                raise SubjectError(
                    f"backend {self.name} has no partitioner, so it takes no options ({names})",
                    hint="leave --backend-option out, or choose another --backend",
                )
            return ()
        kwargs = dict(self.arguments)
        if not self.options_argument:
            return (Construct(self.partitioner, kwargs=tuple({**kwargs, **dict(options)}.items())),)
        taken = inspect.signature(resolve(self.partitioner)).parameters if options else {}
        kwargs.update((name, value) for name, value in options if name in taken)
        rest = tuple((name, value) for name, value in options if name not in taken)
        if rest:
            given = kwargs.get(self.options_argument, Items("dict"))
            kwargs[self.options_argument] = _with_options(given, rest)
        return (Construct(self.partitioner, kwargs=tuple(kwargs.items())),)

    def status(self) -> BackendStatus:
        """Whether it works here; if not, what is missing. Imports its modules."""
        construct = self.constructs()[0] if self.partitioner else None
        missing: list[str] = []
        try:
            for name in self.imports:
                import_module(name)
            if obstacle := self.obstacle():
                return BackendStatus(self.name, False, self._mended(obstacle), construct)
            passes = self.recipe().transform_passes
            if construct is not None and not (missing := _missing_arguments(construct)):
                build(construct)
        except SubjectError as error:
            return BackendStatus(self.name, False, self._mended(error.message), construct)
        if construct is None:
            kernels = "passes of its own" if passes else "portable kernels only"
            return BackendStatus(self.name, True, f"no partitioner: {kernels}")
        reason = f"its partitioner needs {', '.join(missing)}" if missing else ""
        return BackendStatus(self.name, True, reason, construct)

    def _mended(self, reason: str) -> str:
        return f"{reason}; needs {self.needs}" if self.needs else reason


def compile_spec(key: str, value: bytes) -> Construct:
    """The call that makes one of ExecuTorch's compile specs."""
    return Construct(_COMPILE_SPEC, (key, value))


def _with_options(given: Plain, options: Options) -> Plain:
    """An argument that takes options by name, with these among them: later ones count."""
    if isinstance(given, Construct):
        return replace(given, kwargs=tuple({**dict(given.kwargs), **dict(options)}.items()))
    if isinstance(given, Items) and given.kind == "list":
        specs = {spec.args[0]: spec for spec in given.items if isinstance(spec, Construct)}
        specs.update((name, compile_spec(name, _bytes(value))) for name, value in options)
        return Items("list", tuple(specs.values()))
    items = given.items if isinstance(given, Items) else ()
    return Items("dict", (*items, *options))


def _bytes(value: Plain) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


def _missing_arguments(construct: Construct) -> list[str]:
    """Names of the constructor's arguments that have no default and are not given."""
    given = [name for name, _ in construct.kwargs]
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [
        item.name
        for item in inspect.signature(resolve(construct.path)).parameters.values()
        if item.default is item.empty and item.kind not in variable and item.name not in given
    ]
