"""How is it told since which release something fails?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reducer.cli.render.corpus import row as replayed_row
from reducer.cli.render.words import printable
from reducer.corpus.outcome import Replayed
from reducer.search.first_failing import First


def row(release: str, said: Replayed | str) -> str:
    """One release that was asked."""
    told = said if isinstance(said, str) else replayed_row(said)
    return printable(f"executorch {release:<8}{told}")


def sentence(name: str, releases: Sequence[str], found: First) -> str:
    """What it comes to."""
    if not any(answer is not None for answer in found.answers.values()):
        return f"{name}: none of {', '.join(releases)} gave an answer"
    if found.place is None:
        return f"{name} fails with none of: {', '.join(_asked(releases, found))}"
    first = f"{name} fails since executorch {releases[found.place]}"
    if found.before < 0:
        return f"{first}, the first that was asked" if found.place == 0 else f"{first} or earlier"
    between = releases[found.before + 1 : found.place]
    unknown = f"; {', '.join(between)} gave no answer" if between else ""
    return f"{first}: with {releases[found.before]} it does not{unknown}"


def document(name: str, releases: Sequence[str], found: First) -> dict[str, Any]:
    """For a program."""
    return {
        "entry": name,
        "first_failing": None if found.place is None else releases[found.place],
        "last_passing": releases[found.before] if found.before >= 0 else None,
        "fails": {releases[place]: answer for place, answer in sorted(found.answers.items())},
    }


def _asked(releases: Sequence[str], found: First) -> list[str]:
    return [
        releases[place] for place, answer in sorted(found.answers.items()) if answer is not None
    ]
