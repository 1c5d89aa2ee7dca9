"""Did a pass change anything that is not its graph?

Looked at: the flags of the fake modes of the graph and of the program that was handed in, what their
shape environments know of symbols, and that program itself. Passes share these with whoever else holds
the program: what one of them sets there reaches code that it knows nothing of.
"""

from __future__ import annotations

import zlib
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.export import ExportedProgram
from torch.utils.weak import WeakIdKeyDictionary

from reducer.core.diagnosis import Violation
from reducer.lowering.watch.invariants.observation import Skipped
from reducer.lowering.watch.view import View, fake_values

NAME = "shared-state"
DEAR = False
OF_THE_GRAPH = False

#: Tensor -> (its version, the checksum of its numbers then).
_CHECKSUMS: WeakIdKeyDictionary = WeakIdKeyDictionary()
#: What was seen: (owner's identity, what it is) -> value.
_State = dict[tuple[int, str], Any]


def observe(view: View, program: ExportedProgram | None) -> _State:
    """The state that a pass shares with others."""
    modes = {id(mode): mode for mode in view.modes}
    found: _State = {}
    if program is not None:
        given = View(program.graph_module, program, whole=True)
        inputs = (value for node in given.placeholders for value in fake_values(node))
        modes.update((id(value.fake_mode), value.fake_mode) for value in inputs)
        found[id(program), "the program that was handed in"] = _program(given)
    for mode in modes.values():
        found.update(_of_mode(mode))
    return found


def alone(seen: _State | Skipped) -> list[Violation]:
    """Nothing: a state is neither right nor wrong by itself."""
    return []


def caused(was: _State | Skipped, now: _State | Skipped) -> list[Violation]:
    """What has another value than before."""
    if isinstance(was, Skipped) or isinstance(now, Skipped):
        return []
    return [
        Violation(NAME, f"{what} is changed", detail=_change(was[owner, what], value))
        for (owner, what), value in now.items()
        if (owner, what) in was and was[owner, what] != value
    ]


def _of_mode(mode: FakeTensorMode) -> _State:
    owner = id(mode)
    state: _State = {(owner, f"flag {flag} of a fake mode"): on for flag, on in _flags(mode)}
    state[owner, "the nesting of a fake mode"] = len(mode.enter_stack)
    if (environment := mode.shape_env) is not None:
        for flag, on in _flags(environment):
            state[owner, f"flag {flag} of a shape environment"] = on
        # An expression that a pass makes may bring a symbol of its own; only known ones count.
        ranges = getattr(environment, "var_to_range", {})
        for symbol, limits in ranges.items():
            replaced = environment.replacements.get(symbol, "free")
            state[owner, f"the value of symbol {symbol}"] = str(replaced)
            state[owner, f"the range of symbol {symbol}"] = str(limits)
    return state


def _program(given: View) -> Any:
    """What a program consists of: by identity, since nobody but a pass replaces anything in it."""
    nodes = tuple(
        (node.name, id(node.target), id(node.args), id(node.kwargs), id(node.meta.get("val")))
        for node in given.nodes
    )
    specs = given.program.graph_signature if given.program else None
    form = tuple(map(id, (*specs.input_specs, *specs.output_specs))) if specs else ()
    return nodes, form, tuple(map(_numbers, given.tensors))


def _numbers(tensor: torch.Tensor) -> int:
    """A checksum of a tensor's numbers; computed again only if something wrote to it since.

    A write alone is no change: to trace a delegate that updates a buffer writes nothing new to it.
    """
    version = -1 if tensor.is_inference() else tensor._version
    known = _CHECKSUMS.get(tensor)
    if known is None or known[0] != version:
        flat = tensor.detach().cpu().contiguous().reshape(-1)
        checksum = zlib.crc32(flat.view(torch.uint8).numpy()) if flat.numel() else 0
        known = _CHECKSUMS[tensor] = (version, checksum)
    return known[1]


def _flags(thing: Any) -> list[tuple[str, bool]]:
    return [(name, on) for name, on in vars(thing).items() if isinstance(on, bool)]


def _change(before: Any, after: Any) -> str:
    simple = (bool, int, str)
    if isinstance(before, simple) and isinstance(after, simple):
        return f"{before} -> {after}"
    return ""
