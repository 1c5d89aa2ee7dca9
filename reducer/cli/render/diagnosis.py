"""How is a diagnosis shown?"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from reducer.cli.render.words import printable
from reducer.core import text as forms
from reducer.core.diagnosis import Diagnosis, Explanation, PassRun

if TYPE_CHECKING:  # the import costs all of the workflow
    from reducer.workflows.explain import Explained

_WIDTH = 100


def text(diagnosis: Diagnosis, *, passes: bool = False, notes: Sequence[str] = ()) -> str:
    """The sentence, then each answer with its facts; ``passes`` lists all runs below."""
    lines = _wrapped(diagnosis.summary, "")
    for answer in diagnosis.answers:
        lines += ["", *_wrapped(f"{answer.name.replace('_', ' ')}: {answer.text}", "")]
        lines += [line for fact in answer.facts for line in _wrapped(f"- {fact}", "  ")]
    if passes:
        lines += ["", *pass_lines(diagnosis.explanation)]
    lines += [line for note in notes for line in _wrapped(f"note: {note}", "")]
    return printable("\n".join(lines))


def brief(diagnosis: Diagnosis) -> str:
    """The sentence, and a line per answer."""
    lines = _wrapped(diagnosis.summary, "")
    for answer in diagnosis.answers:
        lines += _wrapped(f"{answer.name.replace('_', ' ')}: {answer.text}", "  ")
    return printable("\n".join(lines))


def pass_lines(explanation: Explanation) -> list[str]:
    """A line per pass run, nested ones indented: seconds, stage, what it changed, what it broke."""
    return [_pass_line(run, _depth(explanation, run)) for run in explanation.runs]


def document(subject: str, explained: Explained) -> dict[str, Any]:
    """The same for a program."""
    diagnosis = explained.diagnosis
    return {
        "subject": subject,
        "exit_code": int(explained.code),
        "backend": explained.case.recipe.backend,
        "summary": diagnosis.summary,
        "answers": {
            answer.name: {"text": answer.text, "facts": list(answer.facts)}
            for answer in diagnosis.answers
        },
        "explanation": plain(diagnosis.explanation),
        "environment": plain(explained.environment),
        "notes": list(explained.notes),
    }


def plain(noun: Any) -> Any:
    """A noun as JSON, without the tags by which it is read back."""
    return _untagged(forms.encode(noun))


def _untagged(data: Any) -> Any:
    if isinstance(data, list):
        return [_untagged(item) for item in data]
    if not isinstance(data, dict):
        return data
    if data.get("_") in ("Kind", "Stage", "Verdict"):
        return data["v"]
    return {key: _untagged(value) for key, value in data.items() if key != "_"}


def _wrapped(paragraph: str, indent: str) -> list[str]:
    further = indent + ("  " if indent else "")
    return textwrap.wrap(
        " ".join(paragraph.split()), _WIDTH, initial_indent=indent, subsequent_indent=further,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def _depth(explanation: Explanation, run: PassRun) -> int:
    depth = 0
    while run.parent is not None:
        run, depth = explanation.runs[run.parent], depth + 1
    return depth


def _pass_line(run: PassRun, depth: int) -> str:
    changed = "changed" if run.before != run.after else ""
    broke = ", ".join(dict.fromkeys(violation.invariant for violation in run.violations))
    end = f"breaks {broke}" if broke else f"raises {run.error}"[:60] if run.error else ""
    name = "  " * depth + run.name
    return f"{run.index:4} {run.seconds * 1e3:8.1f} ms  {run.stage:<14} {name:<46} {changed:<8}{end}".rstrip()
