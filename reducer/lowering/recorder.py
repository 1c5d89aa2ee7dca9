"""With which arguments was this object constructed?

ExecuTorch's partitioners, quantizers, passes and the like do not keep what they were made from. So
while a subject is captured, every plain class of ExecuTorch, and the base classes which users
derive from, get a ``__new__`` that notes the arguments and otherwise does what it did. Classes
imported later are covered as they arrive.
"""

from __future__ import annotations

import abc
import sys
import weakref
from importlib import import_module
from types import ModuleType
from typing import Any

from reducer.lowering.importing import after_import

#: Bases of what users hand to ExecuTorch; those not defined in executorch itself.
_BASES = (
    ("executorch.exir.backend.partitioner", "Partitioner"),
    ("torch.fx.passes.infra.pass_base", "PassBase"),
    ("torchao.quantization.pt2e.quantizer.quantizer", "Quantizer"),
    ("torch.nn", "Module"),
)
_PACKAGE = "executorch"

Call = tuple[tuple[Any, ...], dict[str, Any]]

_calls: dict[int, tuple[weakref.ref[Any], Call]] = {}
_installed = False


def install() -> None:
    """Start recording. Lasts for the life of the process; calling it again does nothing."""
    global _installed  # noqa: PLW0603  patches of classes are process-wide by nature
    if _installed:
        return
    _installed = True
    for module_name, name in _BASES:
        try:
            _record(getattr(import_module(module_name), name))
        except (ImportError, AttributeError):
            continue  # another release keeps it elsewhere: then its objects are not expressible
    for module in list(sys.modules.values()):
        if isinstance(module, ModuleType) and module.__name__.split(".")[0] == _PACKAGE:
            _record_module(module)
    after_import(_PACKAGE, _record_module)


def call_of(thing: Any) -> Call | None:
    """Arguments of the call that constructed ``thing``, or None if it was not seen."""
    found = _calls.get(id(thing))
    if found is None or found[0]() is not thing:
        return None
    return found[1]


def _record_module(module: ModuleType) -> None:
    for thing in list(vars(module).values()):
        if isinstance(thing, type) and thing.__module__ == module.__name__:
            _record(thing)


def _record(cls: type) -> None:
    """Let ``cls`` and what derives from it note constructor arguments.

    Left alone: classes with a ``__new__`` of their own (they, or a base, are recorded already, or
    are tuples, enums, ...), exceptions, and classes of a metaclass other than ABCMeta.
    """
    inherited: Any = cls.__new__
    if type(cls) not in (type, abc.ABCMeta) or inherited is not object.__new__:
        return
    if issubclass(cls, BaseException):
        return

    def new(made: Any, *args: Any, **kwargs: Any) -> Any:
        following: Any = super(cls, made).__new__
        if following is object.__new__:
            if (args or kwargs) and made.__init__ is object.__init__:
                raise TypeError(f"{made.__name__}() takes no arguments")
            thing = following(made)
        else:
            thing = following(made, *args, **kwargs)
        if sys._getframe(1).f_globals.get("__name__") != "copyreg":  # a copy is not constructed
            _note(thing, args, kwargs)
        return thing

    cls.__new__ = new  # type: ignore[method-assign,assignment]


def _note(thing: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    key = id(thing)
    try:
        reference = weakref.ref(thing, lambda _: _calls.pop(key, None))
    except TypeError:  # slots without __weakref__
        return
    # Containers may be changed by whoever gave them: note what they held now.
    call = tuple(map(_frozen, args)), {name: _frozen(value) for name, value in kwargs.items()}
    _calls[key] = reference, call


def _frozen(value: Any) -> Any:
    return value.copy() if type(value) in (list, dict, set) else value
