"""How does a statement that is too long for a line look as a formatter would leave it?"""

from __future__ import annotations

WIDTH = 100

_OPEN, _CLOSE = "([{", ")]}"


def wrap(line: str, width: int = WIDTH) -> list[str]:
    """The statement as lines of at most ``width`` where its brackets allow.

    >>> for row in wrap("    result = function(first_argument, second_argument)", 40): print(row)
        result = function(
            first_argument, second_argument
        )
    """
    if len(line) <= width:
        return [line]
    if (returned := line.strip()).startswith("return ") and len(split_commas(returned)) > 1:
        line = line.replace("return ", "return (", 1) + ")"
    split = _last_bracket(line)
    if split is None:
        return [line]
    start, end = split
    indent = line[: len(line) - len(line.lstrip())]
    head, body, tail = line[: start + 1], line[start + 1 : end], line[end:]
    inner = indent + "    "
    if not body.strip():
        return [line]
    magic = body.rstrip().endswith(",") or head.endswith(("= (", "return ("))
    if len(inner) + len(body) <= width and not magic:
        return [head, inner + body, indent + tail]
    parts = split_commas(body)
    if len(parts) == 1 and not body.rstrip().endswith(","):
        return [head, *wrap(inner + body, width), indent + tail]
    rows = [row for part in parts for row in wrap(f"{inner}{part},", width)]
    return [head, *rows, indent + tail]


def split_commas(text: str) -> list[str]:
    """Parts between the commas that are in no bracket and no string.

    >>> split_commas('f(a, b), "x, y", c')
    ['f(a, b)', '"x, y"', 'c']
    """
    parts, depth, start = [], 0, 0
    for position, letter in _code(text):
        depth += (letter in _OPEN) - (letter in _CLOSE)
        if letter == "," and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def _last_bracket(line: str) -> tuple[int, int] | None:
    """Positions of the last bracket pair that is in no other and can take the line's length."""
    stack: list[int] = []
    found: list[tuple[int, int]] = []
    for position, letter in _code(line):
        if letter in _OPEN:
            stack.append(position)
        elif letter in _CLOSE and stack:
            start = stack.pop()
            if not stack:
                found.append((start, position))
    useful = [pair for pair in found if pair[1] - pair[0] > 1]
    return useful[-1] if useful else None


def _code(text: str) -> list[tuple[int, str]]:
    """Characters outside string literals, with their positions."""
    kept, quote, skip = [], "", False
    for position, letter in enumerate(text):
        if skip:
            skip = False
        elif quote:
            skip = letter == "\\"
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        else:
            kept.append((position, letter))
    return kept
