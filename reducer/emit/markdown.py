"""How is text of any origin put into Markdown, so that it is shown as it stands?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

#: What is code in a sentence: dotted and underscored names, classes, attributes.
_CODE = r"\.?[A-Za-z_]\w*(?:[.:]{1,2}[A-Za-z_]\w*)+(?:\.py)?|\.[a-z_]\w*|\w*_\w*|[A-Z]+[a-z0-9]+[A-Z]\w*"
_SPECIAL = re.compile(r"([\\`*<\[\]|~]|^[>#+-])")

#: Rows of a list at most.
MOST_ROWS = 8
#: Characters of a name and of a sentence at most.
_NAME, _SENTENCE = 120, 1_500


def prose(text: str, names: Iterable[str] = (), limit: int = _SENTENCE) -> str:
    r"""A sentence on one line: names in it as code, everything else as plain text.

    ``names`` are names that do not look like any.

    >>> print(prose("mode <A> of torch.fx:call opened a_b, mul: ExportPass has .constant", ["mul"]))
    mode \<A> of `torch.fx:call` opened `a_b`, `mul`: `ExportPass` has `.constant`
    """
    parts, end = [], 0
    text = " ".join(shortened(text, limit).split())
    words = "|".join(re.escape(name) for name in names)
    for found in re.finditer(rf"{_CODE}|\b(?:{words})\b" if words else _CODE, text):
        parts += [_SPECIAL.sub(r"\\\1", text[end : found.start()]), f"`{found[0]}`"]
        end = found.end()
    return "".join([*parts, _SPECIAL.sub(r"\\\1", text[end:])])


def code(text: str) -> str:
    r"""The text as code within a line, also within a table.

    >>> print(code("a|b"), code("x`y"))
    `a\|b` ``x`y``
    """
    text = " ".join(shortened(text, _NAME).split()).replace("|", "\\|")
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    edge = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{edge}{text}{edge}{ticks}" if text else ""


def row(items: Sequence[str]) -> str:
    """Items in a line, with a word for those left out."""
    shown = ", ".join(items[:MOST_ROWS])
    return shown if len(items) <= MOST_ROWS else f"{shown} and {len(items) - MOST_ROWS} more"


def fenced(text: str, language: str = "text") -> str:
    """The text as a block of code, whatever is in it."""
    longest = max((len(run) for run in re.findall("`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    content = text.strip("\n")
    return f"{fence}{language}\n{content}\n{fence}"


def shortened(text: str, limit: int) -> str:
    r"""The text, its middle left out if it is longer than ``limit``, with a word that says so.

    >>> shortened("abcdefgh" * 20, 80)
    'abcdefghabcdefghabcdefgh\n[... 128 characters left out ...]\nabcdefgh'
    """
    if len(text) <= limit:
        return text
    room = max(limit - 48, 0)
    head, tail = room * 3 // 4, room - room * 3 // 4
    left_out = len(text) - head - tail
    return f"{text[:head]}\n[... {left_out:,} characters left out ...]\n{text[len(text) - tail :]}"
