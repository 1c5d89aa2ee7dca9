"""How is a model reduced from Python? ``reducer.reduce(model, example_inputs, backend="vulkan")``.

The model is exported here, in the caller's process, since only there it exists. What is reduced is
the exported program, saved in the output folder: from there on it is as if that had been handed in.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reducer.core.errors import BadInput, ExitCode, NoFailure
from reducer.core.events import Event
from reducer.core.finding import Finding
from reducer.core.recipe import Construct, Plain
from reducer.core.signature import MATCH_LEVELS, MatchRule

if TYPE_CHECKING:
    import os

    import torch
    from torch.export import ExportedProgram


@dataclass(frozen=True)
class Reduced:
    """What came out. ``code`` is REDUCED if the repro was confirmed; ``message`` says why not."""

    code: ExitCode
    finding: Finding = field(repr=False)  # a whole case
    folder: Path
    repro: Path
    message: str = ""

    @property
    def source(self) -> str:
        """The text of the repro."""
        return self.repro.read_text()


def reduce(
    model: torch.nn.Module | ExportedProgram | str | os.PathLike[str],
    example_inputs: Sequence[Any] | Mapping[str, Any] | None = None,
    backend: str | type | None = None,
    *,
    kwargs: Mapping[str, Any] | None = None,
    dynamic_shapes: Any = None,
    backend_options: Mapping[str, Any] | None = None,
    partitioner: Any = None,
    compile_config: Any = None,
    output: str | os.PathLike[str] | None = None,
    match: str = MATCH_LEVELS[0],
    match_regex: str = "",
    max_calls: int | None = None,
    budget: float | None = None,
    timeout: float | None = None,
    keep_names: bool = False,
    report: Callable[[Event], None] | None = None,
) -> Reduced:
    """Find the smallest part of ``model`` that still fails to lower in the same way.

    ``model``
        a module with its ``example_inputs`` (a tuple, or a mapping of keyword arguments) and
        ``dynamic_shapes`` as ``torch.export.export`` takes them; an exported program; or what the
        command takes: the path of a model file, script or ``.pt2``, or ``module:attribute``.
    ``backend``
        a name, ``package.module:PartitionerClass``, or that class; ``backend_options`` go to its
        constructor. Or instead ``partitioner``: an instance, or a list of them; how one was made
        is known only if that was after the first call of this function.
    ``output``
        the folder for results; ``reduced/<class of the model>`` if not given.
    ``match``, ``match_regex``, ``max_calls``, ``budget``, ``timeout``
        as the command's options; the last two in seconds.
    ``keep_names``
        leave names of the model's own modules and attributes in what is written.
    ``report``
        is called with each event (see :mod:`reducer.core.events`).

    Raises a :class:`~reducer.core.errors.ReducerError`: NoFailure if the model lowers, BadInput,
    NotHandled, NotReproducible.
    """
    from reducer.workflows.output import default_output, refuse_foreign
    from reducer.workflows.reduce import reduce_subject
    from reducer.workflows.settings import ReduceSettings

    if match not in MATCH_LEVELS:
        raise BadInput(f"match={match!r} is unknown", hint=f"one of {', '.join(MATCH_LEVELS)}")
    try:
        re.compile(match_regex)
    except re.error as error:
        raise BadInput(f"match_regex is not a regular expression: {error}") from error
    if partitioner is not None and backend is not None:
        raise BadInput("both backend and partitioner are given", hint="leave one of them out")
    notes: list[str] = []
    folder = Path(output) if output is not None else None
    name, options = _backend(backend), _options(backend_options)
    if isinstance(model, str) or hasattr(model, "__fspath__"):
        _refuse_for_paths(example_inputs, kwargs, dynamic_shapes, partitioner, compile_config)
        subject = Path(model) if hasattr(model, "__fspath__") else model
    else:
        from reducer.lowering.hand_over import exported, lowering

        program = exported(model, example_inputs, kwargs, dynamic_shapes)
        kind, own = _class_name(model), None
        if partitioner is not None or compile_config is not None:
            own = lowering(partitioner, name, options, compile_config, notes)

        def settings_in(root: Path) -> ReduceSettings:
            work = (root / "state").resolve()
            if own is not None:
                return ReduceSettings(str(work / f"{kind}.py"))
            return ReduceSettings(str(work / f"{kind}.pt2"), name, options)

        folder = folder or default_output(kind, name, settings_in)
        refuse_foreign(folder, settings_in(folder))
        subject = _handed_over(program, kind, folder / "state")
        if own is not None:
            subject, name, options = _script(subject, *own), None, ()
    settings = ReduceSettings(
        subject=str(subject),
        backend=name,
        options=options,
        output=folder,
        rule=MatchRule(match, match_regex),
        timeout=timeout,
        keep_names=keep_names,
        max_calls=max_calls,
        budget=budget,
    )
    try:
        outcome = reduce_subject(settings, report or (lambda _: None))
    except NoFailure as error:
        error.hint = "; ".join([*notes, error.hint])
        raise
    message = "; ".join(filter(None, [outcome.message, *notes]))
    return Reduced(
        outcome.code, outcome.finding, outcome.folder.root, outcome.folder.repro, message
    )


def _backend(backend: str | type | None) -> str | None:
    """The backend as the command takes it."""
    if not isinstance(backend, type):
        return backend
    if backend.__module__ == "__main__" or "<" in backend.__qualname__:
        raise BadInput(
            f"class {backend.__qualname__} cannot be imported by another process",
            hint="move it into a module of its own",
        )
    return f"{backend.__module__}:{backend.__qualname__}"


def _options(options: Mapping[str, Any] | None) -> tuple[tuple[str, Plain], ...]:
    if not options:
        return ()
    from reducer.lowering.hand_over import plain_options

    return plain_options(options)


def _refuse_for_paths(*given: Any) -> None:
    if any(item is not None for item in given):
        raise BadInput(
            "a path or module:attribute says itself what its inputs are and how it is lowered",
            hint="give only backend and backend_options with it",
        )


def _class_name(model: Any) -> str:
    return re.sub(r"\W+", "_", type(model).__name__)


def _handed_over(program: ExportedProgram, name: str, folder: Path) -> Path:
    """Save an exported program as a subject."""
    from reducer.lowering.hand_over import save

    try:
        save(program, folder / f"{name}.pt2")
    except OSError as error:
        raise BadInput(f"cannot write to {folder}: {error.strerror or error}") from error
    return folder / f"{name}.pt2"


def _script(
    saved: Path, partitioners: tuple[Construct, ...], compile_config: Construct | None
) -> Path:
    """A script beside a saved program that lowers it as the caller's objects say.

    It names the program by its digest: a changed program makes a changed script, and that is what a
    resumed run looks at.
    """
    from reducer.core.files import write_atomic
    from reducer.emit.construct import Imports, construct_text, given
    from reducer.emit.layout import wrap

    program = saved.with_stem(f"{saved.stem}-{_digest(saved)[:12]}")
    for old in saved.parent.glob(f"{saved.stem}-*.pt2"):
        old.unlink()
    saved.rename(program)
    imports = Imports(("torch", "Path"))
    function = imports.name("executorch.exir:to_edge_transform_and_lower")
    listed = ", ".join(construct_text(item, imports) for item in partitioners)
    config = construct_text(compile_config, imports) if compile_config is not None else ""
    arguments = given({"partitioner": f"[{listed}]" if listed else "", "compile_config": config})
    lines = [
        "# What reducer.reduce() was called with.",
        "from pathlib import Path",
        "",
        *sorted({"import torch", *imports.lines}),
        "",
        f'program = torch.export.load(Path(__file__).with_name("{program.name}"))',
        *wrap(f"edge = {function}({', '.join(['program', *arguments])})"),
        "edge.to_executorch()",
    ]
    write_atomic(saved.with_suffix(".py"), "\n".join(lines) + "\n")
    return saved.with_suffix(".py")


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
