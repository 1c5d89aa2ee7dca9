"""Through which functions does every run of a compiler pass go?

Passes derived from torch's ``PassBase`` or exir's ``ExportedProgramPassBase`` by ``__call__``; the
retrace that they inherit by ``ExportPass.call``; other callables by the pass manager that was given
them; plain functions by their name, which modules import; memory planning by ``run``. A program's own
decomposition and verification do a pass's work too: the one traces it anew, the other runs operators
in its fake mode. Each is replaced for a while by a function that lets the watcher look before and after.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any, Protocol

from torch._export.verifier import Verifier
from torch.export import ExportedProgram
from torch.fx.passes.infra import pass_manager as fx_manager
from torch.fx.passes.infra.pass_base import PassBase

from reducer.lowering.patching import Patches
from reducer.lowering.watch import identity
from reducer.lowering.watch.identity import Identity

#: Folders of ExecuTorch in which a module is named after the function that is its pass.
_FOLDERS = frozenset({"passes", "_passes", "transforms"})
_MARK = "__watched__"


class Watcher(Protocol):
    """What wants to see the passes run."""

    def watched(
        self,
        thing: Any,
        who: Callable[[], Identity],
        arguments: tuple[Any, ...],
        run: Callable[[], Any],
    ) -> Any:
        """Run a pass (``thing`` tells its objects apart) and give what it gives."""

    def program_is(self, program: ExportedProgram) -> None:
        """Passes now run on this program's graph."""

    def extracted(self, inputs: list[Any]) -> None:
        """A retrace took these as its inputs."""

    def retracing(self) -> None:
        """It begins, under the modes that it has chosen."""


def install(patches: Patches, watcher: Watcher) -> None:
    """Put all hooks in place; ``patches`` takes them back."""
    from executorch.exir import pass_base, pass_manager

    for base in (PassBase, pass_base.ExportedProgramPassBase):
        for cls in (base, *_below(base)):
            if "__call__" in vars(cls):
                _method(patches, watcher, cls, "__call__", "call")
    _retrace(patches, watcher, pass_base.ExportPass)
    _on_program(patches, watcher, ExportedProgram, "run_decompositions")
    _on_program(patches, watcher, Verifier, "check")
    for manager in (fx_manager.PassManager, pass_manager.ExportedProgramPassManager):
        _manager(patches, watcher, manager)
    _functions(patches, watcher)


def _below(cls: type) -> Iterator[type]:
    derived: type
    for derived in cls.__subclasses__():
        yield derived
        yield from _below(derived)


def _method(patches: Patches, watcher: Watcher, cls: type, name: str, code: str) -> None:
    """Watch a method; ``code`` names the one that does the work."""
    original = vars(cls)[name]

    @functools.wraps(original)
    def method(thing: Any, *args: Any, **kwargs: Any) -> Any:
        return watcher.watched(
            thing,
            lambda: identity.of_pass(thing, getattr(type(thing), code, original)),
            (*args, *kwargs.values()),
            lambda: original(thing, *args, **kwargs),
        )

    patches.attribute(cls, name, method)


def _retrace(patches: Patches, watcher: Watcher, base: type) -> None:
    """Watch the retrace that a pass calls for from within its own ``call``, and its inputs."""
    owner = next(cls for cls in base.__mro__ if "call" in vars(cls))
    original = vars(owner)["call"]
    taking = next(cls for cls in base.__mro__ if "inputs" in vars(cls))
    take = vars(taking)["inputs"]
    tracing = next(cls for cls in base.__mro__ if "call_submodule" in vars(cls))
    trace = vars(tracing)["call_submodule"]

    @functools.wraps(original)
    def call(thing: Any, graph_module: Any) -> Any:
        if type(thing).call is call:  # its run is watched already, as that of the pass
            return original(thing, graph_module)
        return watcher.watched(
            (id(thing), "retrace"),
            lambda: identity.of_retrace(thing, base, owner),
            (graph_module,),
            lambda: original(thing, graph_module),
        )

    @functools.wraps(take)
    def inputs(thing: Any, graph_module: Any) -> Any:
        found = take(thing, graph_module)
        watcher.extracted(list(found))
        return found

    @functools.wraps(trace)
    def call_submodule(thing: Any, *args: Any, **kwargs: Any) -> Any:
        watcher.retracing()
        return trace(thing, *args, **kwargs)

    patches.attribute(tracing, "call_submodule", call_submodule)
    patches.attribute(owner, "call", call)
    patches.attribute(taking, "inputs", inputs)


def _on_program(patches: Patches, watcher: Watcher, cls: type, name: str) -> None:
    """Watch a method of a program, or one that is given it, as a pass."""
    original = vars(cls)[name]

    @functools.wraps(original)
    def method(thing: Any, *args: Any, **kwargs: Any) -> Any:
        return watcher.watched(
            (id(thing), name),
            lambda: identity.of_step(thing, original),
            (thing, *args),
            lambda: original(thing, *args, **kwargs),
        )

    patches.attribute(cls, name, method)


def _manager(patches: Patches, watcher: Watcher, cls: Any) -> None:
    """Watch the plain callables that a pass manager holds, and hear which program it works on."""
    run, check = vars(cls)["__call__"], vars(cls)["check"]

    @functools.wraps(run)
    def call(manager: Any, *args: Any, **kwargs: Any) -> Any:
        if not manager._validated:  # constraints compare the passes themselves
            manager.solve_constraints()
        own = manager.passes
        manager.passes = [_watched_callable(watcher, item) for item in own]
        try:
            return run(manager, *args, **kwargs)
        finally:
            manager.passes = own

    @functools.wraps(check)
    def checked(manager: Any, thing: Any) -> Any:
        if isinstance(thing, ExportedProgram):  # the copy that the manager goes on with
            watcher.program_is(thing)
        return check(manager, thing)

    patches.attribute(cls, "__call__", call)
    patches.attribute(cls, "check", checked)


def _watched_callable(watcher: Watcher, item: Any) -> Any:
    inner = inspect.unwrap(item) if isinstance(item, FunctionType) else item
    if not isinstance(item, FunctionType) or hasattr(item, _MARK) or _is_pass_object(inner):
        return item
    return _function(watcher, item)


def _is_pass_object(thing: Any) -> bool:
    """Whether calling ``thing`` goes through a method that is watched."""
    called = inspect.getattr_static(type(thing), "__call__", None)
    return hasattr(called, "__wrapped__")


def _function(watcher: Watcher, original: Any) -> Any:
    @functools.wraps(original)
    def function(*args: Any, **kwargs: Any) -> Any:
        return watcher.watched(
            inspect.unwrap(original),
            lambda: identity.of_pass(original, original),
            (*args, *kwargs.values()),
            lambda: original(*args, **kwargs),
        )

    setattr(function, _MARK, True)
    return function


def _functions(patches: Patches, watcher: Watcher) -> None:
    """Watch functions that are passes wherever they were imported to, and ``run`` of pass classes."""
    replaced: dict[int, Any] = {}
    for module in list(sys.modules.values()):
        if not isinstance(module, ModuleType) or not module.__name__.startswith("executorch"):
            continue
        for name, value in list(vars(module).items()):
            if isinstance(value, FunctionType) and _is_pass_function(value):
                if id(value) not in replaced:
                    replaced[id(value)] = _function(watcher, value)
                patches.attribute(module, name, replaced[id(value)])
            elif isinstance(value, type) and value.__module__ == module.__name__:
                if value.__name__.endswith("Pass") and isinstance(
                    vars(value).get("run"), FunctionType
                ):
                    _method(patches, watcher, value, "run", "run")


def _is_pass_function(function: FunctionType) -> bool:
    """Named as one, or the function after which its module in a folder of passes is named."""
    module = function.__module__ or ""
    if hasattr(function, _MARK) or not module.startswith(
        ("executorch", "torch.export", "torch._export")
    ):
        return False
    *folders, last = module.split(".")
    return function.__name__.endswith("_pass") or (
        last == function.__name__ and not _FOLDERS.isdisjoint(folders)
    )
