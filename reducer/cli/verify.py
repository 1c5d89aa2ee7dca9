"""``reduce verify``: the evidence for a fix."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from reducer.cli import values
from reducer.cli.corpus import DEFAULT, AtOnce, Debug, Directory, Json, Part, Results, Timeout
from reducer.cli.ending import put
from reducer.core.errors import BadInput, ExitCode
from reducer.core.healthy import HEALTHY, HEALTHY_PAIRS

HELP = """\
Try a fix of ExecuTorch: the entries of a corpus with their regression tests, and small models that are
known to lower soundly, without the fix and with it. Prints a table in Markdown, to paste into a pull request:
what is fixed, still failing, newly broken; whether each model's .pte is byte-identical; which invariants of
compiler passes hold that did not, and the other way round. The installed executorch is never written to.

\b
Exit codes:
  0  what should be fixed is (any entry, without --fixes), and nothing is newly broken
  9  it is not, or only its symptom is gone, or something is newly broken
"""

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


@app.command(help=HELP)
def verify(
    directory: Directory = DEFAULT,
    patch: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The fix: a unified diff against executorch, applied in an"
                     " overlay."),
    ] = None,
    modules: Annotated[
        list[str] | None,
        typer.Option("--patch-module", metavar="NAME=FILE", help="The fix: this file is that module"
                     " of executorch. May be repeated."),
    ] = None,
    python: Annotated[
        str | None, typer.Option(metavar="PATH", help="The fix: an interpreter that has it.")
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Interpreter with the executorch to be fixed. Default:"
                     " this one."),
    ] = None,
    fixes: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="An entry that has to be fixed. May be repeated."),
    ] = None,
    models: Annotated[
        list[str] | None,
        typer.Option("--model", metavar="NAME", help="Only this healthy model. May be repeated."),
    ] = None,
    timeout: Timeout = "120",
    at_once: AtOnce = 1,
    part: Part = "1/1",
    results: Results = None,
    markdown: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Add the table to this file as well. Default: the step"
                     " summary of GitHub, in one of its runs."),
    ] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> int:  # fmt: skip
    """Print the table; returns the exit code."""
    from reducer.cli.render import verify as render
    from reducer.cli.render.bar import bar
    from reducer.corpus.compared import Verdict
    from reducer.corpus.executor import shard
    from reducer.corpus.reading import Kept, Unreadable
    from reducer.corpus.side import Model
    from reducer.corpus.store import Corpus
    from reducer.oracle import sandbox
    from reducer.workflows import verify as workflow

    settings = workflow.VerifySettings(
        base=values.interpreter(base, "--base") if base else sys.executable,
        patch=patch,
        modules=values.modules(modules or []),
        python=values.interpreter(python) if python else None,
        results=results,
        seconds=values.seconds(timeout, "--timeout"),
        at_once=at_once,
    )
    if sum(map(bool, (patch, modules, python))) != 1:
        raise BadInput("give the fix as one of --patch, --patch-module and --python")
    for name in models or []:
        if name not in HEALTHY:
            raise BadInput(f"--model {name!r} is unknown", hint=f"one of {', '.join(HEALTHY)}")
    corpus = Corpus(directory)
    wanted = tuple(kept.name for kept in corpus.find(fixes or []))
    chosen = [Model(*pair) for pair in HEALTHY_PAIRS if pair[0] in (models or HEALTHY)]
    tasks = shard([*corpus.read(), *chosen], part)
    found = [task for task in tasks if isinstance(task, Kept | Unreadable)]
    if found and (said := sandbox.warning()):
        print(f"reduce: {said}", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="reduce-overlay-") as folder:
        both = workflow.sides(settings, Path(folder))
        with bar(sys.stderr, 2 * len(tasks)) as step:
            compared = workflow.verify(
                found,
                [task for task in tasks if isinstance(task, Model)],
                settings,
                both,
                lambda *done: step(render.row(*done)),
            )
    what = patch.name if patch else ", ".join(name for name, _ in settings.modules)
    what = what or both.versions[both.after]
    here = {task.name for task in tasks}
    verdict = Verdict(tuple(compared), tuple(name for name in wanted if name in here))
    table = render.markdown(verdict, both, what)
    if target := markdown or os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(target).open("a", encoding="utf-8") as file:
            file.write(table)
    told = json.dumps(render.document(verdict, both, what), indent=1) if as_json else table.rstrip()
    put(told)
    return int(ExitCode.REDUCED if verdict.good else ExitCode.NOT_VERIFIED)
