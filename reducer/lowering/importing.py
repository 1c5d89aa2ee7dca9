"""How does one hear of modules that are imported later?"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


def after_import(package: str, notify: Callable[[ModuleType], None]) -> None:
    """Call ``notify`` with every module of ``package`` right after it has been executed."""
    sys.meta_path.insert(0, _Listener(package, notify))


class _Listener:
    """A finder that finds nothing by itself: it asks the others and wraps what they found."""

    def __init__(self, package: str, notify: Callable[[ModuleType], None]) -> None:
        self.package = package
        self.notify = notify

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec found by the other finders, its loader set to notify after execution."""
        if name.partition(".")[0] != self.package:
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                self._wrap(spec)
                return spec
        return None

    def _wrap(self, spec: ModuleSpec) -> None:
        loader: Any = spec.loader
        if isinstance(loader, type) or not hasattr(loader, "exec_module"):
            return  # a loader shared by all modules of its kind
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            self.notify(module)

        loader.exec_module = exec_module
