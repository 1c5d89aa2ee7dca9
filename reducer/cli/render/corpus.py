"""How do entries of a corpus, and what became of them, look to a person?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reducer.cli.render.words import count, duration, printable, shown_path
from reducer.corpus import groups
from reducer.corpus.outcome import Replayed
from reducer.corpus.reading import Kept, Unreadable
from reducer.corpus.replay import recorded
from reducer.workflows.corpus import Added
from reducer.workflows.corpus_export import facts

_WIDTH = 100


def added(item: Added) -> str:
    """One finding that was added."""
    what = "added" if item.new else "known already:"
    lines = [f"{what} {item.kept.name} -> {shown_path(item.kept.folder)}"]
    if item.new and item.near:
        names = ", ".join(kept.name for kept in item.near[:5])
        more = f" and {len(item.near) - 5} more" if len(item.near) > 5 else ""
        lines.append(f"  the same culprit or failure in another program: {names}{more}")
    return printable("\n".join(lines))


def listing(found: Sequence[Kept | Unreadable]) -> str:
    """Entries by culprit, simplest first; below them what cannot be read."""
    lines = []
    entries = [item for item in found if isinstance(item, Kept)]
    for group in groups.nearest(entries):
        lines.append(f"{groups.culprit(group[0].entry)}: {recorded(group[0].entry)}"[:_WIDTH])
        width = max(len(kept.name) for kept in group) + 2
        for kept in group:
            operators = ", ".join(name.removeprefix("aten.") for name in kept.entry.operators)
            lines.append(f"  {kept.name:<{width}}{kept.entry.status:<15}{operators}"[:_WIDTH])
    bad = [item for item in found if isinstance(item, Unreadable)]
    lines += [f"unreadable: {item.name}: {item.reason}"[: 2 * _WIDTH] for item in bad]
    total = f"{len(entries)} {'entry' if len(entries) == 1 else 'entries'}"
    return printable("\n".join([*lines, "", total]).strip())


def listed(found: Sequence[Kept | Unreadable]) -> dict[str, Any]:
    """The same for a program."""
    return {
        "entries": [facts(item) for item in found if isinstance(item, Kept)],
        "unreadable": [
            {"name": item.name, "reason": item.reason}
            for item in found
            if isinstance(item, Unreadable)
        ],
    }


def entry(kept: Kept, near: Sequence[Kept]) -> str:
    """All that is known of one entry, and its script."""
    known = kept.entry
    rows = [
        ("status", known.status),
        ("fails in", f"{known.signature.stage}, raised in {known.signature.raised_in}"),
        ("with", f"{' <- '.join(known.signature.types)}: {known.signature.message}"),
        ("breaks", known.oracle),
        ("culprit", known.culprit),
        ("operators", ", ".join(known.operators)),
        ("numbers", ", ".join(known.dtypes)),
        ("failing with", "; ".join(map(str, known.failing))),
        ("passing with", "; ".join(map(str, known.passing))),
        ("report", known.link),
        ("files", ", ".join(kept.files)),
        ("alike", ", ".join(item.name for item in near)),
    ]
    lines = [kept.name, *(f"  {name:<14}{value}" for name, value in rows if value)]
    if known.summary:
        lines += ["", known.summary]
    script = (kept.folder / "repro.py").read_text(errors="replace")
    return printable("\n".join([*lines, "", script.rstrip()]))


def row(replayed: Replayed) -> str:
    """One result, as it comes."""
    took = f" ({duration(replayed.seconds)})" if replayed.seconds else ""
    lines = [f"{replayed.word:<18}{replayed.name}{took}"]
    lines += [f"  {text[: _WIDTH * 2]}" for text in (replayed.detail, replayed.advice) if text]
    return printable("\n".join(lines))


def tally(results: Sequence[Replayed]) -> str:
    """How many of each.

    >>> tally([])
    'no entries'
    """
    if not results:
        return "no entries"
    numbers = Counter(result.word for result in results)
    wrong = sum(not result.as_recorded for result in results)
    told = ", ".join(f"{number} {word}" for word, number in numbers.most_common())
    verdict = (
        f"{count(wrong, 'entry').replace('entrys', 'entries')} not as recorded"
        if wrong
        else "as recorded"
    )
    return f"{told}: {verdict}"


def removed(folders: Sequence[Path], dry: bool) -> str:
    """What was removed, or would be."""
    verb = "would remove" if dry else "removed"
    lines = [f"{verb} {shown_path(folder)}" for folder in folders]
    return printable("\n".join(lines)) or "nothing to remove"
