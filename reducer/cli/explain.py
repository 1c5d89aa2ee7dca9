"""``reduce explain SUBJECT``: which compiler pass really broke it?"""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

from reducer.cli import values
from reducer.cli.ending import put
from reducer.core.diagnosis import INVARIANTS

HELP = """\
Lower SUBJECT once and watch every compiler pass: which one really breaks the program, beside the one
that the error names. Nothing is reduced. SUBJECT is what `reduce` takes.
"""

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


@app.command(help=HELP)
def explain(
    context: typer.Context,
    subject: Annotated[str, typer.Argument(metavar="SUBJECT")],
    backend: Annotated[
        str | None,
        typer.Option("--backend", "-b", metavar="NAME", help="What to lower with, as in `reduce`."),
    ] = None,
    backend_option: Annotated[
        list[str] | None,
        typer.Option("--backend-option", "-O", metavar="KEY=VALUE",
                     help="Option for the partitioner, as in `reduce`. May be repeated."),
    ] = None,
    watch: Annotated[
        list[str] | None,
        typer.Option(metavar="INVARIANT",
                     help=f"Watch only this: {', '.join(INVARIANTS)}. May be repeated."),
    ] = None,
    passes: Annotated[bool, typer.Option("--passes", help="List every pass run as well.")] = False,
    timeout: Annotated[
        str | None, typer.Option(metavar="TIME", help="Longest time for one lowering.")
    ] = None,
    python: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Interpreter with the torch and executorch to use."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Print tracebacks of errors.")] = False,
) -> int:  # fmt: skip
    """Print the diagnosis; returns the exit code."""
    from reducer.cli.render import diagnosis as render
    from reducer.workflows.explain import explain_subject
    from reducer.workflows.settings import ReduceSettings

    common: dict[str, Any] = {
        "backend": backend,
        "options": values.options(backend_option or ()),
        "timeout": values.seconds(timeout, "--timeout") if timeout is not None else None,
        "argv": tuple(context.obj or ()),
        "python": values.interpreter(python) if python is not None else sys.executable,
    }
    invariants = [values.oracle(name, "--watch") for name in watch or ()]
    found = explain_subject(ReduceSettings(subject, **common), invariants)
    if as_json:
        put(json.dumps(render.document(subject, found), indent=1))
    else:
        put(render.text(found.diagnosis, passes=passes, notes=found.notes))
    return int(found.code)
