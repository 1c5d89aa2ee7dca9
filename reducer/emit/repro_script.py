"""What does the script look like that anyone can run and attach to a bug report?"""

from __future__ import annotations

import textwrap

from reducer.core.finding import Finding
from reducer.core.kind import Kind
from reducer.core.recipe import Recipe
from reducer.core.stage import Stage
from reducer.emit.construct import Imports, construct_text, given
from reducer.emit.failure_check import HOOK, failure_check
from reducer.emit.layout import WIDTH, wrap
from reducer.emit.run_function import entry, run_function
from reducer.emit.scrub import Scrubber
from reducer.emit.source import Source, sort_imports, write_source
from reducer.emit.spelling import Spelling


def render(finding: Finding, spelling: Spelling | None = None, data_file: str = "") -> str:
    """The whole script: what was observed, the model, how it is lowered, the check of the failure.

    ``data_file`` names the ``.safetensors`` beside the script for tensors kept as data (what it
    must hold is :attr:`~reducer.emit.source.Source.stored`); without it they are zeros.
    """
    source = write_source(finding.case, spelling, data_file)
    lowering_imports, lowering = lower_function(finding.case.recipe, source)
    run_imports, run = run_function(finding.case)
    check_imports, check = failure_check(finding)
    lines = {*source.imports, *lowering_imports, *run_imports, *check_imports} - {""}
    standard, others = import_blocks(lines)
    top = "\n".join([*header(finding), *standard, "", HOOK, *others])
    return "\n\n\n".join(part for part in (top, source.body, lowering, run, check) if part)


def header(finding: Finding) -> list[str]:
    """Comment lines: title, what the user sees, its cause, stage, versions."""
    failure = finding.failure
    cause = [] if len(failure.chain) == 1 else [f"Cause: {failure.cause}"]
    backend = finding.case.recipe.backend
    what = [what_fails(finding), f"Observed: {failure.headline}"]
    if finding.oracle:
        what = [
            f"Lowering for {backend}, a compiler pass breaks an invariant in {failure.stage}.",
            f"Observed: after {' > '.join(failure.passes)}, {failure.chain[-1].message}.",
        ]
    flaky = [f"It fails now and then: {finding.flaky}."] if finding.flaky else []
    return comment([*what, *cause, *flaky, _versions(finding)])


def pass_header(finding: Finding) -> list[str]:
    """The same for a case that runs one pass: what that pass does to the graph."""
    failure, call = finding.failure, finding.case.recipe.alone
    assert call is not None
    seen = f"After {call.name} {failure.chain[-1].message}."
    if not finding.oracle:
        seen = f"{call.name} raises {failure.headline}"
    stage = (
        f"Met in {failure.stage} for {finding.case.recipe.backend}; here on a graph made by hand."
    )
    return comment([seen, stage, _versions(finding)])


def _versions(finding: Finding) -> str:
    env = finding.environment
    versions = [("Python", env.python), ("torch", env.torch), ("executorch", env.executorch)]
    return f"With {', '.join(f'{name} {version}' for name, version in versions if version)}."


def comment(paragraphs: list[str]) -> list[str]:
    """Comment lines, without folders of this machine."""
    lines = []
    for paragraph in paragraphs:
        lines += textwrap.wrap(
            Scrubber().text(" ".join(paragraph.split())),
            98,
            initial_indent="# ",
            subsequent_indent="#   ",
            break_long_words=False,
        )
    return lines


def what_fails(finding: Finding) -> str:
    """What goes wrong, in a sentence."""
    failure, backend = finding.failure, finding.case.recipe.backend
    made = f"The .pte for {backend}"
    if failure.kind is Kind.WRONG:
        return f"{made} returns other numbers than eager PyTorch."
    early = {
        Stage.EAGER: "The model raises when it is run by eager PyTorch",
        Stage.QUANTIZE: "Quantizing the model (PT2E) fails",
        Stage.EXPORT: "Exporting the model fails",
    }
    if failure.stage in early:
        return f"{early[failure.stage]}."
    if failure.kind is Kind.PROPERTY:
        return f"What lowering for {backend} gives is not as it should be (asked after {failure.stage})."
    lowering = failure.stage.rank < Stage.LOAD_PTE.rank
    if failure.kind.ends_process:
        how = {
            Kind.DIES: "kills the process",
            Kind.HANGS: "does not come to an end",
            Kind.MEMORY: "takes up all memory",
        }[failure.kind]
        what = f"Lowering for {backend}" if lowering else f"Running {made[0].lower()}{made[1:]}"
        return f"{what} {how}, in {failure.stage}."
    if failure.stage is Stage.LOAD_PTE:
        return f"{made} does not load."
    if failure.stage is Stage.EXECUTE:
        return f"{made} does not execute."
    return f"Lowering for {backend} fails in {failure.stage}."


def short_form(finding: Finding, spelling: Spelling | None = None, data_file: str = "") -> str:
    """The script without its check: model, inputs, the lowering, and the call of it."""
    source = write_source(finding.case, spelling, data_file)
    lowering_imports, lowering = lower_function(finding.case.recipe, source)
    run_imports, run = run_function(finding.case)
    standard, others = import_blocks({*source.imports, *lowering_imports, *run_imports})
    top = "\n".join([*standard, *([""] if standard else []), *others])
    call = f"{entry(finding.case.recipe)}()"
    return "\n\n\n".join(part for part in (top, source.body, lowering, run, call) if part) + "\n"


def lower_function(recipe: Recipe, source: Source) -> tuple[set[str], str]:
    """Import lines and the function ``lower()``, which runs what the recipe says.

    For a property that lowers by itself: ``export()``, and ``lower(exported)``.
    """
    if source.complete:
        return set(), ""
    imports = Imports(
        ("torch", "F", "Dim", "Repro", "sys", "re", "export", "lower", "load_file", "Path")
    )
    options = ", dynamic_shapes=dynamic_shapes" if source.dynamic else ""
    # Compared with what it was made from: the very same, since its numbers may be random.
    compared = recipe.last_stage is Stage.COMPARE
    model = "model" if compared else "Repro().eval()"
    export = f"torch.export.export({model}, example_inputs{options})"
    apart = recipe.asked is not None and recipe.asked.lowers
    lines = [] if apart else [f"exported = {export}"]
    last = recipe.last_stage.rank >= Stage.TO_EXECUTORCH.rank
    config = recipe.executorch_config
    ending = (
        ".to_executorch(" + (f"config={construct_text(config, imports)}" if config else "") + ")"
    )
    edge = _two_steps(recipe, imports) if recipe.two_steps else [_one_step(recipe, imports)]
    if recipe.two_steps:
        lines += edge + ([f"return edge{ending}"] if last else ["return edge"])
    elif last:
        lines += [f"edge = {edge[0]}", f"return edge{ending}"]
    else:
        lines += [f"return {edge[0]}"]
    body = [row for line in lines for row in wrap(f"    {line}")]
    before = ["model = Repro().eval()", "", ""] if compared else []
    if apart:
        before = ["def export():", *wrap(f"    return {export}"), "", ""]
    signature = "def lower(exported):" if apart else "def lower():"
    return imports.lines, "\n".join([*before, signature, *body])


def _one_step(recipe: Recipe, imports: Imports) -> str:
    function = imports.name("executorch.exir:to_edge_transform_and_lower")
    options = given(
        {
            "transform_passes": _list(recipe.transform_passes, imports),
            "partitioner": _list(recipe.partitioners, imports),
            "compile_config": _optional(recipe.compile_config, imports),
        }
    )
    return f"{function}({', '.join(['exported', *options])})"


def _two_steps(recipe: Recipe, imports: Imports) -> list[str]:
    options = given({"compile_config": _optional(recipe.compile_config, imports)})
    function = imports.name("executorch.exir:to_edge")
    lines = [f"edge = {function}({', '.join(['exported', *options])})"]
    if recipe.transform_passes:
        lines.append(f"edge = edge.transform({_list(recipe.transform_passes, imports)})")
    for partitioner in recipe.partitioners:
        lines.append(f"edge = edge.to_backend({construct_text(partitioner, imports)})")
    return lines


def _list(items: tuple[object, ...], imports: Imports) -> str:
    shown = ", ".join(construct_text(item, imports) for item in items)  # type: ignore[arg-type]
    return f"[{shown}]" if items else ""


def _optional(item: object, imports: Imports) -> str:
    return construct_text(item, imports) if item is not None else ""  # type: ignore[arg-type]


def import_blocks(lines: set[str]) -> tuple[list[str], list[str]]:
    """Lines for the standard library, and the others: the hook stands in between."""
    merged = list(sort_imports(_merge(lines - {""})))
    split = merged.index("") if "" in merged else -1
    return merged[: max(split, 0)], [
        row for line in merged[split + 1 :] for row in _import_rows(line)
    ]


def _import_rows(line: str) -> list[str]:
    """An import line, or its names one below the other where it is too long."""
    if len(line) <= WIDTH or not line.startswith("from "):
        return [line]
    head, _, names = line.partition(" import ")
    return [f"{head} import (", *(f"    {name}," for name in names.split(", ")), ")"]


def _merge(lines: set[str]) -> set[str]:
    """``from a import b`` and ``from a import c`` as one line."""
    names: dict[str, set[str]] = {}
    for line in lines:
        if line.startswith("from "):
            module, _, name = line.removeprefix("from ").partition(" import ")
            names.setdefault(module, set()).add(name)
    joined = {f"from {module} import {', '.join(sorted(found))}" for module, found in names.items()}
    return {line for line in lines if not line.startswith("from ")} | joined
