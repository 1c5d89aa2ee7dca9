"""Run the ``.pte`` on fewer further inputs, of smaller sizes, or on the example inputs alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reducer.core.case import Case, Check
from reducer.core.delta import Edit
from reducer.graph.prune import spec_symbols, tidy

NAME = "check-inputs"
#: They are numbered: one edit moves the others.
TOGETHER = False

_SMALL = (1, 2, 3)


def edits(case: Case) -> list[Edit]:
    """Per check: drop it, make it the example, forget its numbers; per symbol in it smaller sizes."""
    hints = {symbol.name: symbol.hint for symbol in case.symbols}
    found = []
    for place, check in enumerate(case.checks):
        element = f"check {place}"
        found.append(Edit(NAME, element, (place, "drop"), f"without {element}"))
        found.append(Edit(NAME, element, (place, "example"), f"{element} as the example"))
        if check.fills:
            what = f"{element} with the example's numbers"
            found.append(Edit(NAME, element, (place, "numbers"), what))
        for symbol, size in check.sizes:
            for smaller in sorted({*_SMALL, hints.get(symbol, 0) + 1}):
                if smaller < size:
                    what = f"{symbol} in {element}: {size} -> {smaller}"
                    payload = (place, "size", symbol, smaller)
                    found.append(Edit(NAME, f"{symbol} in {element}", payload, what))
    return found


def apply(case: Case, edits: Sequence[Edit]) -> Case | None:
    """Make the changes; all are of the checks as they are numbered in ``case``."""
    checks: list[Check | None] = list(case.checks)
    for edit in edits:
        place, how, *rest = edit.payload
        assert isinstance(place, int)
        check = checks[place]
        if how == "example" or check is None:
            return case.checked_by(case.checks[place])
        if how == "drop":
            checks[place] = None
        elif how == "numbers":
            checks[place] = replace(check, fills=())
        else:
            checks[place] = _smaller(case, check, str(rest[0]), int(rest[1]))  # type: ignore[arg-type]
    return tidy(replace(case, checks=tuple(check for check in checks if check is not None)))


def _smaller(case: Case, check: Check, symbol: str, size: int) -> Check:
    """The check with another size; numbers of inputs that have it do not fit any more."""
    resized = {item.name for item in case.graph.inputs if symbol in spec_symbols(item.spec)}
    sizes = tuple((name, size if name == symbol else old) for name, old in check.sizes)
    fills = tuple((n, f) for n, f in check.fills if n not in resized or f.is_generated)
    return Check(sizes, fills)
