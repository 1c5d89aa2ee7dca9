"""``reduce corpus``: keep findings, and see what became of them."""

from __future__ import annotations

import json
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from reducer.cli import values
from reducer.cli.ending import put
from reducer.core.errors import ExitCode
from reducer.core.files import write_atomic

HELP = """\
Keep findings as entries of a corpus, and see whether they still fail. A corpus is a folder of plain
files, for git: the same bug is the same entry, whoever adds it.
"""

CHECK = """\
Try every entry again, in a sandbox: still fails, fixed, fails differently, flaky, cannot run here.

\b
Exit codes:
  0  every entry does what it is recorded to do, or cannot run here
  8  some do not
"""

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help=HELP,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

Directory = Annotated[Path, typer.Argument(metavar="[DIR]", help="The corpus. Default: corpus.")]
Option = Annotated[
    Path, typer.Option("--corpus", metavar="DIR", help="The corpus. Default: corpus.")
]
Names = Annotated[list[str], typer.Argument(metavar="ID...", help="Ids, or how they begin.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Debug = Annotated[bool, typer.Option("--debug", help="Print tracebacks of errors.")]
Dry = Annotated[bool, typer.Option("--dry-run", help="Only say what would be removed.")]
Timeout = Annotated[str, typer.Option(metavar="TIME", help="Longest time for one lowering.")]
AtOnce = Annotated[
    int, typer.Option("--jobs", "-j", metavar="N", min=1, help="Warm workers side by side.")
]
Part = Annotated[str, typer.Option("--shard", metavar="I/N", help="Try only the I-th of N parts.")]
Results = Annotated[
    Path | None,
    typer.Option("--results", metavar="DIR", help="Keep each result in this folder, and do not do again what"
                 " is there; the folders of shards merge by copying."),
]  # fmt: skip
DEFAULT = Path("corpus")


@app.command()
def add(
    folders: Annotated[list[Path], typer.Argument(metavar="FOLDER...")],
    corpus: Option = DEFAULT,
    link: Annotated[
        str, typer.Option("--report", metavar="URL", help="The public report of the bug, if any.")
    ] = "",
    debug: Debug = False,
) -> int:
    """Add the findings in these output folders of `reduce`."""
    from reducer.cli.render import corpus as render
    from reducer.corpus.store import Corpus
    from reducer.workflows import corpus as workflow

    for folder in folders:
        put(render.added(workflow.add(folder, Corpus(corpus), link)))
    return 0


@app.command("list")
def list_entries(
    directory: Directory = DEFAULT, as_json: Json = False, debug: Debug = False
) -> int:
    """List the entries, those with the same culprit together."""
    from reducer.cli.render import corpus as render
    from reducer.corpus.store import Corpus

    found = Corpus(directory).read()
    put(json.dumps(render.listed(found), indent=1) if as_json else render.listing(found))
    return 0


@app.command()
def show(
    name: Annotated[str, typer.Argument(metavar="ID")],
    corpus: Option = DEFAULT,
    debug: Debug = False,
) -> int:
    """Show all that is known of an entry, and its script."""
    from reducer.cli.render import corpus as render
    from reducer.corpus import groups
    from reducer.corpus.store import Corpus

    place = Corpus(corpus)
    [kept] = place.find([name])
    put(render.entry(kept, groups.near(kept.entry, place.entries())))
    return 0


@app.command(help=CHECK)
def check(
    directory: Directory = DEFAULT,
    python: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Interpreter with the torch and executorch to use."),
    ] = None,
    timeout: Timeout = "120",
    at_once: AtOnce = 1,
    part: Part = "1/1",
    results: Results = None,
    record: Annotated[
        bool, typer.Option("--record", help="Note in the entries with which versions they were seen.")
    ] = False,
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write JUnit XML as well.")
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Add a table in Markdown to this file. Default: the step"
                     " summary of GitHub, in one of its runs."),
    ] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> int:  # fmt: skip
    """Try every entry again; returns the exit code."""
    from reducer.cli.render import corpus as render
    from reducer.cli.render import replayed as machine
    from reducer.cli.render.bar import bar
    from reducer.corpus.executor import shard
    from reducer.corpus.store import Corpus
    from reducer.oracle import sandbox
    from reducer.workflows import corpus as workflow

    corpus = Corpus(directory)
    found = shard(corpus.read(), part)
    settings = workflow.CheckSettings(
        python=values.interpreter(python) if python is not None else sys.executable,
        seconds=values.seconds(timeout, "--timeout"),
        at_once=at_once,
        record=record,
        results=results,
    )
    if found and (said := sandbox.warning()):
        print(f"reduce: {said}", file=sys.stderr)
    with ExitStack() as stack:
        step = stack.enter_context(bar(sys.stderr, len(found)))
        done = workflow.check(found, corpus, settings, lambda one: step(render.row(one)))
    if junit is not None:
        write_atomic(junit, machine.junit(done))
    if table := markdown or os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(table).open("a", encoding="utf-8") as file:
            file.write(machine.markdown(done))
    put(json.dumps(machine.document(done), indent=1) if as_json else render.tally(done))
    good = all(result.as_recorded for result in done)
    return int(ExitCode.REDUCED if good else ExitCode.CHANGED)


@app.command()
def promote(names: Names, corpus: Option = DEFAULT, debug: Debug = False) -> int:
    """Make mended entries tests that must pass from now on."""
    from reducer.corpus.store import Corpus
    from reducer.workflows import corpus as workflow

    for kept in workflow.promote(Corpus(corpus), names):
        put(f"{kept.name}: {kept.entry.status}")
    return 0


@app.command()
def minimise(directory: Directory = DEFAULT, dry_run: Dry = False, debug: Debug = False) -> int:
    """Remove entries that say nothing that simpler ones do not say as well.

    Of entries that fail in the same way, one stays for every combination of culprit, operators and
    kinds of numbers.
    """
    from reducer.corpus.store import Corpus
    from reducer.workflows import corpus as workflow

    corpus = Corpus(directory)
    return _remove(corpus, [kept.folder for kept in workflow.minimise(corpus)], dry_run)


@app.command()
def prune(
    names: Annotated[list[str] | None, typer.Argument(metavar="[ID...]")] = None,
    corpus: Option = DEFAULT,
    unreadable: Annotated[
        bool, typer.Option("--unreadable", help="Also what stands there and is no entry.")
    ] = False,
    dry_run: Dry = False,
    debug: Debug = False,
) -> int:
    """Remove these entries."""
    from reducer.corpus.reading import Unreadable
    from reducer.corpus.store import Corpus

    place = Corpus(corpus)
    folders = [kept.folder for kept in place.find(names or [])]
    if unreadable:
        folders += [item.folder for item in place.read() if isinstance(item, Unreadable)]
    return _remove(place, folders, dry_run)


@app.command()
def export(
    target: Annotated[Path, typer.Argument(metavar="FILE", help="A .zip, or a .jsonl.")],
    names: Annotated[list[str] | None, typer.Argument(metavar="[ID...]")] = None,
    corpus: Option = DEFAULT,
    debug: Debug = False,
) -> int:
    """Write entries, all if none is named, into one file: a .zip, or a .jsonl with a line for each."""
    from reducer.corpus.store import Corpus
    from reducer.workflows.corpus_export import export_entries

    place = Corpus(corpus)
    entries = place.find(names) if names else place.entries()
    export_entries(entries, target)
    put(f"{len(entries)} entries -> {target}")
    return 0


def _remove(corpus: Any, folders: list[Path], dry_run: bool) -> int:
    from reducer.cli.render import corpus as render

    if not dry_run:
        corpus.remove(folders)
    put(render.removed(folders, dry_run))
    return 0
