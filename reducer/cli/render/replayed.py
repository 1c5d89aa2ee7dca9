"""How do the results of a check look to a machine: JSON, JUnit XML, the Markdown of a step summary?

Details come from whatever an entry printed: each format escapes them in its own way.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from reducer.cli.render.corpus import tally
from reducer.cli.render.words import printable
from reducer.corpus.outcome import Outcome, Replayed

#: What XML 1.0 does not allow, beside the control characters that nothing shows.
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: What means something in a table of GitHub's Markdown.
_MARKDOWN = re.compile(r"([\\`*_\[\]|~$])")
_LONGEST = 300


def document(results: Sequence[Replayed]) -> dict[str, Any]:
    """For a program."""
    return {
        "as_recorded": all(result.as_recorded for result in results),
        "entries": [
            {
                "name": result.name,
                "status": result.status,
                "outcome": str(result.outcome),
                "as_recorded": result.as_recorded,
                "recorded": result.recorded,
                "detail": result.detail,
                "advice": result.advice,
                "seconds": result.seconds,
                "executorch": result.versions.executorch if result.versions else "",
                "torch": result.versions.torch if result.versions else "",
            }
            for result in results
        ],
    }


def junit(results: Sequence[Replayed]) -> str:
    """For a CI server: a test per entry."""
    suite = ElementTree.Element(
        "testsuite",
        name="reduce corpus check",
        tests=str(len(results)),
        failures=str(sum(not result.as_recorded for result in results)),
        skipped=str(sum(result.outcome is Outcome.CANNOT_RUN for result in results)),
        errors="0",
        time=f"{sum(result.seconds for result in results):.3f}",
    )
    for result in results:
        backend, _, name = _xml(result.name).rpartition("/")
        case = ElementTree.SubElement(
            suite, "testcase", classname=backend, name=name, time=f"{result.seconds:.3f}"
        )
        told = _xml("\n".join(filter(None, [result.advice, result.detail, result.recorded])))
        if not result.as_recorded:
            failure = ElementTree.SubElement(case, "failure", message=result.word)
            failure.text = told
        elif result.outcome is Outcome.CANNOT_RUN:
            ElementTree.SubElement(case, "skipped", message=told)
        else:
            ElementTree.SubElement(case, "system-out").text = _xml(f"{result.word}\n{told}")
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def markdown(results: Sequence[Replayed]) -> str:
    """For people who look at a CI run: what is not as recorded first."""
    lines = [
        f"### Corpus: {tally(results)}",
        "",
        "| entry | now | what | seconds |",
        "|---|---|---|---|",
    ]
    for result in sorted(results, key=lambda result: (result.as_recorded, result.name)):
        mark = "" if result.as_recorded else "**"
        what = result.advice or result.detail or result.recorded
        cells = (
            cell(result.name),
            f"{mark}{result.word}{mark}",
            cell(what),
            f"{result.seconds:.1f}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _xml(text: str) -> str:
    return _NOT_XML.sub("", printable(text))


def cell(text: str) -> str:
    """Text in a table, as it is.

    >>> cell("a|b <img src=x> [click](http://x)")
    'a\\\\|b &lt;img src=x&gt; \\\\[click\\\\](http://x)'
    """
    line = " ".join(printable(text).split())
    line = line if len(line) <= _LONGEST else line[: _LONGEST - 3] + "..."
    return _MARKDOWN.sub(r"\\\1", html.escape(line, quote=False))
