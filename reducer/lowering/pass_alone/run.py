"""What does one pass do to a graph that is made by hand?"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.export import ExportedProgram

from reducer.core.case import Case, Spec, TensorSpec
from reducer.core.recipe import THE_PROGRAM, Construct, PassCall, Plain
from reducer.core.signature import Failure
from reducer.core.stage import Stage
from reducer.core.wire import Attempt, JudgeJob
from reducer.lowering.construct import build, resolve
from reducer.lowering.data import DataStore
from reducer.lowering.errors import SubjectError, headline
from reducer.lowering.failure import failure_from_exception
from reducer.lowering.fx.from_fx import spec_of
from reducer.lowering.pass_alone.build import ByHand, by_hand
from reducer.lowering.pipeline import StageClock
from reducer.lowering.user_modules import provide
from reducer.lowering.watch import identity
from reducer.lowering.watch.invariants import chosen
from reducer.lowering.watch.oracle import failure_of
from reducer.lowering.watch.view import View, graph_after


def run_alone(job: JudgeJob, clock: StageClock) -> Attempt:
    """Run the pass of the case's recipe on its graph; what cannot be made is invalid.

    Without an oracle it fails if the pass raises; else if the invariant holds of the graph before the
    pass and not of what it leaves. Raises SubjectError if no invariant has that name.
    """
    call = job.case.recipe.alone
    assert call is not None
    if not job.case.graph.nodes:
        return Attempt(invalid="no pass is given a graph without operators", gate="rebuild")
    try:
        provide(job.case, job.data_dir)
        made = by_hand(job.case, DataStore(job.data_dir))
        specs = _specs(made.module)
        _refuse_emptied(job.case, dict(specs))
        ready = _ready(made, call)
    except SubjectError as error:
        return Attempt(invalid=error.message, gate="rebuild")
    except Exception as error:  # any candidate may be nonsense: the verdict says so
        return Attempt(invalid=headline(error)[:300], gate="rebuild")
    stage = job.case.recipe.last_stage
    with clock.at(stage):
        failure = _broken(ready, job.oracle, stage) if job.oracle else _raised(ready, stage)
    return Attempt(failure, specs=specs, seconds=clock.seconds)


@dataclass(frozen=True)
class _Ready:
    """A pass and what it is called with; ``program`` is around the graph, if there can be one."""

    thing: Any
    subject: torch.fx.GraphModule | ExportedProgram
    program: ExportedProgram | None

    def view(self, subject: torch.fx.GraphModule | ExportedProgram) -> View:
        if isinstance(subject, ExportedProgram):
            return View(subject.graph_module, subject, whole=True)
        return View(subject, self.program)


def _ready(made: ByHand, call: PassCall) -> _Ready:
    for item in call.after:
        made = replace(made, module=build(item)(made.module).graph_module)
    program = None
    if call.needs_program:
        program = made.program()
    else:
        with suppress(
            Exception
        ):  # only some invariants want to know which tensors belong to a graph
            program = made.program()
    subject: Any = made.module
    if call.needs_program:
        subject = program if call.takes == "program" else program.graph_module  # type: ignore[union-attr]
    return _Ready(_pass(call.construct, program), subject, program)


def _pass(construct: Construct, program: ExportedProgram | None) -> Any:
    def argument(plain: Plain) -> Any:
        return program if plain == THE_PROGRAM else build(plain)

    if not construct.call:
        return resolve(construct.path)
    kwargs = {name: argument(plain) for name, plain in construct.kwargs}
    return resolve(construct.path)(*map(argument, construct.args), **kwargs)


def _raised(ready: _Ready, stage: Stage) -> Failure | None:
    try:
        ready.thing(ready.subject)
    except Exception as error:
        return failure_from_exception(error, stage)
    return None


def _broken(ready: _Ready, oracle: str, stage: Stage) -> Failure | None:
    """The first violation of the invariant that the pass causes, else what it raises."""
    (check,) = chosen([oracle])
    # The program around the graph is not one that was handed in: a pass may change it.
    was = check.observe(ready.view(ready.subject), None)
    try:
        left = graph_after(ready.thing(ready.subject), ready.subject)
    except Exception as error:
        return failure_from_exception(error, stage)
    found = check.caused(was, check.observe(ready.view(left), None))
    if not found:
        return None
    who = identity.of_pass(ready.thing, getattr(type(ready.thing), "call", ready.thing))
    return failure_of(found[0], who, stage, (who.name,))


def _refuse_emptied(case: Case, specs: Mapping[str, Spec]) -> None:
    """What holds for no element shows nothing. Raises SubjectError."""
    for node in case.graph.nodes:
        was, now = node.spec, specs.get(node.name)
        tensors = isinstance(was, TensorSpec) and isinstance(now, TensorSpec)
        if tensors and was.elements and not now.elements:  # type: ignore[union-attr]
            raise SubjectError(f"the result of {node.name} has become empty")


def _specs(module: torch.fx.GraphModule) -> tuple[tuple[str, Spec], ...]:
    nodes = [node for node in module.graph.nodes if node.op == "call_function"]
    return tuple((node.name, spec_of(node.meta["val"])) for node in nodes)
