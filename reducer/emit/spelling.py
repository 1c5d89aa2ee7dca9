"""In which ways can an operator be written, the most ordinary first?

The ways are derived from the target's name and schema. The last one, ``torch.ops``, always can.
Which one is used is a :data:`Spelling`; :mod:`reducer.emit.settle` finds one that exports to the
operator.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from reducer.emit.call import Call
from reducer.emit.expression import Expression, call
from reducer.emit.idioms import IDIOMS
from reducer.emit.names import operator_name
from reducer.emit.operator_tables import FUNCTIONAL, METHODS, REGISTERED_BY, RENAMED, REORDERED

#: Which way each target is written: an index into :func:`ways`. A target left out is written the
#: first way.
Spelling = Mapping[str, int]

Way = Callable[[Call], Expression | None]

_SUBMODULES = ("linalg", "fft", "special")


def ways(target: str) -> tuple[Way, ...]:
    """The ways to write an operator, best first; a way gives None for a call that it cannot write.

    >>> [way.__name__ for way in ways("aten.linear.default")]
    ['functional', 'function', 'method', 'raw']
    >>> [way.__name__ for way in ways("aten.reshape.default")]
    ['method', 'function', 'raw']
    >>> [way.__name__ for way in ways("quantized_decomposed.quantize_per_tensor.default")]
    ['raw']
    """
    name = operator_name(target)
    found: list[Way] = [IDIOMS[target]] if target in IDIOMS else []
    if target.startswith("aten."):
        if name.partition("_")[0] in _SUBMODULES and "_" in name:
            found.append(submodule)
        if name in FUNCTIONAL or name in REORDERED:
            found.append(functional)
        if not name.startswith("_"):
            methodical = name in METHODS or name.endswith("_") or name.startswith("new_")
            found += [method, function] if methodical else [function, method]
    return (*found, raw)


def spell(this: Call, spelling: Spelling) -> Expression:
    """The call, written the way that ``spelling`` says, or the next one that can."""
    options = ways(this.node.target)
    for way in options[min(spelling.get(this.node.target, 0), len(options) - 1) :]:
        if (written := way(this)) is not None:
            return written
    return raw(this)


def function(this: Call) -> Expression | None:
    """``torch.name(...)``."""
    if this.schema is None or this.name.endswith("_"):
        return None
    arguments = this.arguments()
    return None if arguments is None else call(f"torch.{this.name}", arguments)


def method(this: Call) -> Expression | None:
    """``x.name(...)``: if the schema's first argument is ``self``."""
    owner = this.first
    if this.schema is None or owner is None or this.schema.arguments[0].name != "self":
        return None
    arguments = this.arguments(skip=1)
    return None if arguments is None else owner.method(this.name, arguments)


def functional(this: Call) -> Expression | None:
    """``F.name(...)``."""
    if this.schema is None:
        return None
    arguments = this.arguments(order=REORDERED.get(this.name, "").split())
    name = RENAMED.get(this.name, this.name)
    return None if arguments is None else call(f"F.{name}", arguments)


def submodule(this: Call) -> Expression | None:
    """``torch.fft.rfft(...)``, ``torch.linalg.norm(...)``."""
    if this.schema is None:
        return None
    arguments = this.arguments()
    module, _, name = this.name.partition("_")
    return None if arguments is None else call(f"torch.{module}.{name}", arguments)


def raw(this: Call) -> Expression:
    """``torch.ops.aten.name.overload(...)``; for a Python function, that function."""
    target = this.node.target
    if ":" not in target:
        return call(f"torch.ops.{target}", this.all_arguments())
    module, _, name = target.partition(":")
    path = name if module == "builtins" else f"{module}.{name}"
    return call(path, this.all_arguments())


def needed_imports(target: str, text: str) -> set[str]:
    """Import lines that a call of an operator, written as ``text``, needs besides ``import torch``.

    >>> needed_imports("aten.relu.default", "F.relu(x)")
    {'import torch.nn.functional as F'}
    """
    found = {"import torch.nn.functional as F"} if re.search(r"\bF\.", text) else set()
    namespace = target.partition(".")[0]
    if ":" not in target and namespace in REGISTERED_BY:
        found.add(f"import {REGISTERED_BY[namespace]}")
    module = target.partition(":")[0]
    if ":" in target and f"{module}." in text and module not in ("torch", "builtins"):
        found.add(f"import {module}")
    return found
