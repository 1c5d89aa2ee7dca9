"""Which fake mode does each value belong to, and where was each mode created?"""

from __future__ import annotations

import sys
from collections import Counter
from types import ModuleType

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

from reducer.core.diagnosis import Census, CensusNode, FakeMode
from reducer.core.signature import Frame
from reducer.lowering.fx.targets import operator_of, target_text
from reducer.lowering.watch.view import View, fake_values

#: Frames of the creating stack that are kept, and modules in which creating is only carried out.
_KEPT = 12
_CONSTRUCTORS = ("torch._subclasses", "contextlib", "torch.utils._python_dispatch")


def census(view: View) -> Census:
    """The modes of a graph's values: A is that of the first fake value, B the next one met, ..."""
    letters = {id(mode): _letter(place) for place, mode in enumerate(view.modes)}
    counts: Counter[str] = Counter()
    nodes = []
    for node in view.nodes:
        found = [letters[id(value.fake_mode)] for value in fake_values(node)]
        counts.update(found)
        letter = ",".join(sorted(set(found)))
        nodes.append(
            CensusNode(node.name, node.op, target_of(node), letter, carries_constant(node))
        )
    modes = (
        FakeMode(letter, counts[letter], created_at(mode))
        for mode in view.modes
        for letter in (letters[id(mode)],)
    )
    return Census(tuple(modes), tuple(nodes))


def carries_constant(node: torch.fx.Node) -> bool:
    """Whether a placeholder's fake value holds the real tensor that it stands for."""
    value = node.meta.get("val")
    return node.op == "placeholder" and isinstance(value, FakeTensor) and value.constant is not None


def created_at(mode: FakeTensorMode) -> tuple[Frame, ...]:
    """Frames that led to the mode, innermost first; empty if this torch does not record them."""
    stack = getattr(mode, "_stack_trace", None) or ()
    modules = _modules_by_file()
    frames = [
        Frame(modules.get(entry.filename, ""), entry.name, entry.lineno or 0)
        for entry in reversed(list(stack))
    ]
    telling = [
        frame
        for frame in frames
        if frame.module.split(".")[0] != "reducer" and not frame.module.startswith(_CONSTRUCTORS)
    ]
    return tuple(telling[:_KEPT])


def _modules_by_file() -> dict[str, str]:
    return {
        str(getattr(module, "__file__", "")): name
        for name, module in list(sys.modules.items())
        if isinstance(module, ModuleType)
    }


def _letter(place: int) -> str:
    return chr(ord("A") + place) if place < 26 else f"M{place}"


def target_of(node: torch.fx.Node) -> str:
    """A node's target in words: an edge operator by the name of the ATen operator that it wraps."""
    if node.op != "call_function":
        return str(node.target)
    return target_text(operator_of(node.target))
