"""``reduce matrix``: with which releases does each entry of a corpus fail?"""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from reducer.cli import values
from reducer.cli.corpus import DEFAULT, AtOnce, Debug, Directory, Json, Part, Results, Timeout
from reducer.cli.ending import put

HELP = """\
Try the entries of a corpus (see `reduce corpus`) on several environments, and print a table in Markdown:
an entry a row, an environment a column.
"""

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

Releases = Annotated[
    list[str] | None,
    typer.Option("--release", metavar="VERSION", help="A release of executorch, with the torch that it"
                 " needs: installed into a cache folder if it is not there. May be repeated."),
]  # fmt: skip


@app.command(help=HELP)
def matrix(
    directory: Directory = DEFAULT,
    python: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH", help="An interpreter with a torch and an executorch. May be"
                     " repeated. Default: this one."),
    ] = None,
    releases: Releases = None,
    timeout: Timeout = "120",
    at_once: AtOnce = 1,
    part: Part = "1/1",
    results: Results = None,
    as_json: Json = False,
    debug: Debug = False,
) -> int:  # fmt: skip
    """Print the table; returns the exit code."""
    from reducer.cli.render import corpus as render
    from reducer.cli.render import matrix as table
    from reducer.cli.render.bar import bar
    from reducer.corpus.executor import shard
    from reducer.corpus.store import Corpus
    from reducer.oracle import environments
    from reducer.workflows import matrix as workflow
    from reducer.workflows.corpus import CheckSettings

    found = shard(Corpus(directory).read(), part)
    pythons = [values.interpreter(path) for path in python or []]
    pythons += [environments.interpreter(name, say) for name in releases or []]
    pythons = pythons or [values.interpreter(sys.executable)]
    settings = CheckSettings(
        seconds=values.seconds(timeout, "--timeout"), at_once=at_once, results=results
    )
    with bar(sys.stderr, len(found) * len(pythons)) as step:
        result = workflow.matrix(found, pythons, settings, lambda done: step(render.row(done)))
    put(json.dumps(table.document(result), indent=1) if as_json else table.table(result))
    return 0


def say(text: str) -> None:
    """Tell what takes a while."""
    print(f"reduce: {text}", file=sys.stderr, flush=True)
