"""``reduce bisect``: since which release does an entry of a corpus fail?"""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from reducer.cli import values
from reducer.cli.corpus import DEFAULT, Debug, Json, Option, Timeout
from reducer.cli.ending import put
from reducer.cli.matrix import Releases, say
from reducer.core.errors import ExitCode

HELP = """\
Find the first release of executorch with which an entry of a corpus (see `reduce corpus`) fails. Each release
that is asked is installed, with the torch that it needs, into a cache folder if it is not there.

\b
Exit codes:
  0  there is one
  3  it fails with none of them
"""

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


@app.command(help=HELP)
def bisect(
    name: Annotated[str, typer.Argument(metavar="ENTRY", help="Its id, or how that begins.")],
    corpus: Option = DEFAULT,
    releases: Releases = None,
    every: Annotated[
        bool,
        typer.Option("--every", help="Ask every release: it may have been mended in between."),
    ] = False,
    timeout: Timeout = "120",
    as_json: Json = False,
    debug: Debug = False,
) -> int:
    """Print the release; returns the exit code."""
    from reducer.cli.render import bisect as render
    from reducer.core.errors import NoEnvironment
    from reducer.core.releases import TORCH_FOR
    from reducer.corpus.store import Corpus
    from reducer.oracle import environments
    from reducer.workflows import matrix as workflow
    from reducer.workflows.corpus import CheckSettings

    [kept] = Corpus(corpus).find([name])
    for release in releases or ():
        environments.requirements(release)
    ordered = sorted(set(releases or TORCH_FOR), key=environments.order)

    def environment(release: str) -> str:
        try:
            return environments.interpreter(release, say)
        except NoEnvironment as error:
            say(error.message)
            return ""

    settings = CheckSettings(seconds=values.seconds(timeout, "--timeout"))
    found = workflow.bisect(
        kept,
        ordered,
        environment,
        settings,
        lambda *done: print(render.row(*done), file=sys.stderr, flush=True),
        monotone=not every,
    )
    told = render.document(kept.name, ordered, found)
    put(json.dumps(told, indent=1) if as_json else render.sentence(kept.name, ordered, found))
    return int(ExitCode.NO_FAILURE if found.place is None else ExitCode.REDUCED)
