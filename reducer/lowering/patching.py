"""How are functions of a library replaced for a while, wherever they were imported to?"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

#: Packages whose modules may hold a function under a name of their own (``from x import f``).
_HOLDERS = ("torch.export", "executorch", "torchao")


class Patches:
    """Replacements that :meth:`undo` takes back, last first."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []

    def attribute(self, owner: Any, name: str, replacement: Any) -> None:
        """Replace one attribute of a module or class."""
        original = vars(owner)[name] if name in vars(owner) else getattr(owner, name)
        setattr(owner, name, replacement)
        self._undo.append(lambda: setattr(owner, name, original))

    def everywhere(self, original: Any, replacement: Any) -> None:
        """Replace an object in every loaded module of the libraries that has it."""
        for module in list(sys.modules.values()):
            if isinstance(module, ModuleType) and module.__name__.startswith(_HOLDERS):
                for name, value in list(vars(module).items()):
                    if value is original:
                        self.attribute(module, name, replacement)

    def undo(self) -> None:
        """Put everything back."""
        while self._undo:
            self._undo.pop()()
