"""``reduce SUBJECT``: how are its arguments understood, and its results shown?"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from reducer.cli import values
from reducer.cli.ending import Manner, OutputLost, ended_by, put, tell
from reducer.cli.render.progress import Progress
from reducer.cli.render.screen import open_screen
from reducer.core.errors import BadInput, ExitCode
from reducer.workflows.settings import ReduceSettings

if TYPE_CHECKING:  # the import costs all of the workflow
    from reducer.workflows.outcome import Outcome

HELP = """\
Find the smallest part of a model that still fails to lower with ExecuTorch in the same way, and
write a script that reproduces the failure by itself.

SUBJECT is a Python file with `model` and `example_inputs`, a script that exports and lowers, a .pt2
from torch.export.save, or package.module:attribute. What follows `--` is passed to a script.
"""

ENDING = """\
\b
Other commands:
  reduce explain    which compiler pass really broke it; no reduction
  reduce backends   which backends can be used here, and why others cannot
  reduce corpus     keep findings, and see whether they still fail
  reduce matrix     see with which releases of executorch they fail
  reduce bisect     the first release with which one of them fails
  reduce verify     the evidence for a fix: what it fixes, and what it breaks
\b
Exit codes:
  0    reduced, and confirmed in a clean process
  1    a bug in reducer
  2    the subject, the backend or an option cannot be used as given
  3    the subject does not fail
  4    the failure cannot be reproduced
  5    it fails at a stage, or in a way, that is not reduced yet
  6    stopped by --max-calls or --budget; the best so far is kept
  7    no usable torch and executorch
  8    (reduce corpus check) an entry does not do what it is recorded to do
  9    (reduce verify) a fix breaks something, or does not fix what it should
  130  interrupted; the best so far is kept, the same command resumes
Of several subjects, the code of the one that went worst counts.
"""

#: From the best ending to the worst: what counts when there are several subjects.
SEVERITY = (
    ExitCode.REDUCED,
    ExitCode.STOPPED,
    ExitCode.NO_FAILURE,
    ExitCode.CHANGED,
    ExitCode.NOT_VERIFIED,
    ExitCode.NOT_HANDLED,
    ExitCode.NOT_REPRODUCIBLE,
    ExitCode.BAD_INPUT,
    ExitCode.NO_ENVIRONMENT,
    ExitCode.INTERNAL,
    ExitCode.INTERRUPTED,
)


class _Command(TyperCommand):
    """The command, with a usage line that has ``--`` in it."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return ["[OPTIONS] SUBJECT... [-- SCRIPT ARGUMENTS]"]


app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(wanted: bool) -> None:
    if wanted:
        import reducer

        typer.echo(f"reduce {reducer.__version__}")
        raise typer.Exit()


@app.command(cls=_Command, help=HELP, epilog=ENDING)
def reduce(
    context: typer.Context,
    subjects: Annotated[list[str], typer.Argument(metavar="SUBJECT", hidden=True)],
    backend: Annotated[
        str | None,
        typer.Option("--backend", "-b", metavar="NAME",
                     help="What to lower with: vulkan, webgpu, xnnpack, portable, another name from"
                     " `reduce backends`, package.module:PartitionerClass, or several after one"
                     " another (xnnpack,vulkan). Default: as the subject says."),
    ] = None,
    backend_option: Annotated[
        list[str] | None,
        typer.Option("--backend-option", "-O", metavar="KEY=VALUE",
                     help="Option for the partitioner: key=value (value as JSON, else text), or a"
                     " JSON object; of several backends: name.key=value. May be repeated."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER",
                     help="Where results go. Default: reduced/<name of the subject>."),
    ] = None,
    corpus: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER",
                     help="Add what was reduced and confirmed to this corpus (see `reduce corpus`)."),
    ] = None,
    match: Annotated[
        str | None,
        typer.Option(metavar="LEVEL",
                     help="What makes two failures the same: exact (default), raise-site (stage,"
                     " exception types and where it was raised) or type (stage and types)."),
    ] = None,
    match_regex: Annotated[
        str | None,
        typer.Option(metavar="REGEX",
                     help="Instead: the same stage, and a message that this is found in."),
    ] = None,
    oracle: Annotated[
        str | None,
        typer.Option(metavar="FILE|NAME",
                     help="Not lowering that raises counts as the failure, but this: a Python file"
                     " whose interesting(program) is true, or gives a reason; an executable file that"
                     " exits with 0 given the .pte; a compiler pass that breaks one-fake-mode,"
                     " metadata, well-formed, same-numbers or shared-state; other-bytes (lowered"
                     " twice, the .pte differs) or lost-by-saving (saved and loaded, it differs)."),
    ] = None,
    oracle_command: Annotated[
        str | None,
        typer.Option(metavar="COMMAND",
                     help="The same: a command that exits with 0, given the path of the .pte in the"
                     " place of {pte} (1 to 124: it is fine; else it cannot tell)."),
    ] = None,
    expect_delegated: Annotated[
        bool,
        typer.Option("--expect-delegated",
                     help="The same: operators that no delegate takes."),
    ] = False,
    rtol: Annotated[
        float | None,
        typer.Option(metavar="NUMBER",
                     help="Numbers that the .pte may be off by, as a share of the largest one expected."
                     " Default: by dtype, more for quantised programs."),
    ] = None,
    atol: Annotated[
        float | None, typer.Option(metavar="NUMBER", help="The same, absolute."),
    ] = None,
    keep_names: Annotated[
        bool,
        typer.Option("--keep-names",
                     help="Leave names of the model's own modules, attributes and files in what is"
                     " written; without it they are made plain."),
    ] = False,
    every: Annotated[
        bool,
        typer.Option("--all",
                     help="Go on after the first failure: what was found is masked (its results come"
                     " from outside), and the next is reduced, until the model lowers. Further ones are"
                     " in the folders 2, 3, ... within that of the first."),
    ] = False,
    timeout: Annotated[
        str | None,
        typer.Option(metavar="TIME",
                     help="Longest time for one lowering. Default: learned from the first one."),
    ] = None,
    max_calls: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Stop after this many paid calls of ExecuTorch."),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Stop searching after 600 (seconds), 90s, 10m or 1h."),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", metavar="N", min=1,
                     help="Lowerings that run at a time; the result is the same. Default: 2, if there"
                     " are so many cores."),
    ] = None,
    python: Annotated[
        str | None,
        typer.Option(metavar="PATH",
                     help="Interpreter with the torch and executorch to use. Default: this one."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the result as JSON on stdout, errors as well.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print only errors and the path of the repro.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Print tracebacks of errors.")] = False,
    version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_version, help="Print the version."),
    ] = False,
) -> int:  # fmt: skip
    """Reduce each subject in turn; returns the exit code."""
    if output is not None and len(subjects) > 1:
        raise BadInput("-o names one folder, but there are several subjects", hint="leave -o out")
    not_delegated = "not-delegated" if expect_delegated else ""
    invariant, asked = values.asked(oracle, oracle_command, not_delegated)
    common: dict[str, Any] = {
        "backend": backend,
        "options": values.options(backend_option or ()),
        "output": output,
        "rule": values.match_rule(match, match_regex),
        "timeout": values.seconds(timeout, "--timeout") if timeout is not None else None,
        "max_calls": max_calls,
        "budget": values.seconds(budget, "--budget") if budget is not None else None,
        "argv": tuple(context.obj or ()),
        "oracle": invariant,
        "asked": asked,
        "rtol": values.tolerance(rtol, "--rtol"),
        "atol": values.tolerance(atol, "--atol"),
        "keep_names": keep_names,
        "every": every,
        "python": values.interpreter(python) if python is not None else sys.executable,
    }
    if jobs is not None:
        common["jobs"] = jobs
    run = _Run(Manner(as_json, debug), quiet, corpus)
    for subject in subjects:
        if run(ReduceSettings(subject, **common)) is ExitCode.INTERRUPTED:
            break
    if as_json:
        document: Any = run.documents if len(subjects) > 1 else run.documents[0]
        put(json.dumps(document, indent=1))
    return int(max(run.codes, key=SEVERITY.index))


class _Run:
    """Reduces subjects one after the other, shows how each ends, and adds it to a corpus if there is one."""

    def __init__(self, manner: Manner, quiet: bool, corpus: Path | None) -> None:
        self.manner, self.quiet, self.corpus = manner, quiet, corpus
        self.codes: list[ExitCode] = []
        self.documents: list[dict[str, Any]] = []

    def __call__(self, settings: ReduceSettings) -> ExitCode:
        """Reduce one subject."""
        progress = Progress()
        try:
            code = self._reduce(settings, progress)
        except (BrokenPipeError, OutputLost):
            raise
        except (Exception, KeyboardInterrupt) as error:
            code = self._failed(settings.subject, error, progress)
        self.codes.append(code)
        return code

    def _reduce(self, settings: ReduceSettings, progress: Progress) -> ExitCode:
        from reducer.workflows import reduce as workflow

        with open_screen(sys.stderr, progress, quiet=self.quiet) as report:
            outcome = workflow.reduce_subject(settings, report)
        if self.manner.json:
            from reducer.cli.render.document import outcome_document

            self.documents.append(outcome_document(settings.subject, outcome))
        outcomes = (outcome, *outcome.further)
        for found in outcomes:
            self._tell(found)
        if outcome.further and not self.manner.json and not self.quiet:
            from reducer.cli.render.summary import table

            put(f"\n{table(outcomes)}")
        return max((found.code for found in outcomes), key=SEVERITY.index)

    def _tell(self, outcome: Outcome) -> None:
        """What became of one failure, and of its entry in the corpus."""
        if self.quiet and not self.manner.json:
            if outcome.message:
                print(f"reduce: {outcome.message}", file=sys.stderr)
            put(str(outcome.folder.repro))
        elif not self.manner.json:
            from reducer.cli.render.summary import summary

            put(f"\n{summary(outcome)}")
        if self.corpus is not None and outcome.finding.status == "confirmed":
            self._add(outcome.folder.root, self.corpus)

    def _add(self, folder: Path, corpus: Path) -> None:
        from reducer.cli.render.corpus import added
        from reducer.corpus.store import Corpus
        from reducer.workflows.corpus import add

        found = add(folder, Corpus(corpus))
        if self.manner.json:
            own = [self.documents[-1], *self.documents[-1]["further"]]
            document = next(item for item in own if item["paths"]["folder"] == str(folder))
            document["corpus_entry"] = found.kept.name
        elif not self.quiet:
            put(f"\n{added(found)}")

    def _failed(self, subject: str, error: BaseException, progress: Progress) -> ExitCode:
        from reducer.cli.render.document import ending_document

        ending = ended_by(error, where=progress.where, output=progress.output)
        tell(ending, self.manner)
        self.documents.append(ending_document(subject, ending, progress))
        return ending.code
