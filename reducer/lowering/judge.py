"""Does a case fail, and how? Rebuild, export, lower, describe."""

from __future__ import annotations

from dataclasses import replace

from torch.export import ExportedProgram

from reducer.core.case import Case, Spec
from reducer.core.stage import Stage
from reducer.core.wire import Attempt, JudgeJob, RebuildJob, Spelled
from reducer.lowering.data import DataStore
from reducer.lowering.errors import SubjectError, headline
from reducer.lowering.fx.from_fx import spec_of
from reducer.lowering.fx.targets import graph_targets, target_text
from reducer.lowering.fx.to_fx import (
    attribute_names,
    build_module,
    check_sets,
    export_case,
    export_module,
)
from reducer.lowering.lowered import lowered
from reducer.lowering.pipeline import StageClock, plan_from_recipe
from reducer.lowering.user_modules import provide

#: Up to this many values, shapes and dtypes are reported back.
_FEW = 64


def judge(job: JudgeJob, clock: StageClock) -> Attempt:
    """Lower the case up to its recipe's last stage; a case that does not export is invalid."""
    case, data, gate = job.case, DataStore(job.data_dir), "rebuild"
    try:
        with clock.at(Stage.EXPORT):
            provide(case, job.data_dir)
            module, more = build_module(case, data), check_sets(case, data)
            gate = "export"
            program = export_module(module, case, data)
        gate = "recipe"
        plan = plan_from_recipe(case.recipe)
    except SubjectError as error:
        return Attempt(invalid=error.message, gate=gate, seconds=clock.seconds)
    except Exception as error:  # any candidate may be nonsense: the verdict says so
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        return Attempt(invalid=reason[:300], gate=gate, seconds=clock.seconds)
    names = _case_names(case, program)
    specs = _specs(program, names) if len(names) <= _FEW else ()  # before passes write to them
    attempt = lowered(program, plan, clock, job.oracle, more)

    def translate(found: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(names[name] for name in found if name in names))

    return replace(
        attempt,
        partition=translate(attempt.partition),
        suspects=translate(attempt.suspects),
        specs=specs,
    )


def rebuild(job: RebuildJob) -> Spelled:
    """Export the rebuilt case and list its operators; what torch raises is the answer's error."""
    try:
        provide(job.case, job.data_dir)
        program = export_case(job.case, DataStore(job.data_dir))
    except Exception as error:
        return Spelled(error=headline(error))
    return Spelled(targets=tuple(graph_targets(program.graph_module)))


def _specs(program: ExportedProgram, names: dict[str, str]) -> tuple[tuple[str, Spec], ...]:
    calls = [node for node in program.graph.nodes if node.op == "call_function"]
    return tuple(
        (names[node.name], spec_of(node.meta.get("val"))) for node in calls if node.name in names
    )


def _case_names(case: Case, program: ExportedProgram) -> dict[str, str]:
    """Exported name -> name in the case.

    Export renames. Attributes are found again by their target, inputs by position, and calls by
    walking both lists: export may add calls (sizes, assertions) but keeps the order.
    """
    names = {}
    inputs = [item.name for item in case.graph.inputs if item.role == "input"]
    attributes = {attribute: name for name, attribute in attribute_names(case).items()}
    for spec in program.graph_signature.input_specs:
        if spec.target in attributes:
            names[spec.arg.name] = attributes[spec.target]
        elif spec.target is None and inputs:
            names[spec.arg.name] = inputs.pop(0)
    expected = iter(case.graph.nodes)
    current = next(expected, None)
    for node in program.graph.nodes:
        if node.op == "call_function" and current and target_text(node.target) == current.target:
            names[node.name] = current.name
            current = next(expected, None)
    return names
