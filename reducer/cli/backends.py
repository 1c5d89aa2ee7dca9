"""``reduce backends``: which backends can be used here, and why can others not?"""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer

from reducer.cli import values
from reducer.cli.ending import put
from reducer.core.wire import BackendStatus, Environment

HELP = """\
List the backends: usable here or not, and what would make them so. Any other partitioner can be
given to `reduce --backend` as package.module:Class.
"""

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

_WIDTH = 100


@app.command(help=HELP)
def backends(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    python: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Interpreter to ask. Default: this one."),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Print tracebacks of errors.")] = False,
) -> int:
    """Print the table; returns the exit code."""
    from reducer.workflows import backends as workflow

    chosen = values.interpreter(python) if python is not None else sys.executable
    environment, rows = workflow.list_backends(chosen)
    told = json.dumps(document(environment, rows), indent=1) if as_json else ""
    put(told or table(environment, rows))
    return 0


def table(environment: Environment, rows: Sequence[BackendStatus]) -> str:
    """One backend a line, usable ones first; reasons are wrapped below themselves."""
    width = max(len(row.name) for row in rows) + 2
    lines = [f"torch {environment.torch}, executorch {environment.executorch or 'from source'}", ""]
    for row in sorted(rows, key=lambda row: not row.usable):
        head = f"{row.name:<{width}}{'usable' if row.usable else 'not usable':<12}"
        lines += textwrap.wrap(
            head + row.reason,
            _WIDTH,
            subsequent_indent=" " * len(head),
            break_long_words=False,
            break_on_hyphens=False,
        )
    return "\n".join(line.rstrip() for line in lines)


def document(environment: Environment, rows: Sequence[BackendStatus]) -> dict[str, Any]:
    """The same for a program."""
    return {
        "environment": {**asdict(environment), "accelerations": dict(environment.accelerations)},
        "backends": [
            {"name": row.name, "usable": row.usable, "reason": row.reason,
             "partitioner": row.partitioner.path if row.partitioner else None}
            for row in rows
        ],
    }  # fmt: skip
