"""What does a healthy model lower to, and does anything break on the way?

It is lowered as a user would, and the ``.pte`` is run where it can be run here; then once more, exported anew
and watched.
"""

from __future__ import annotations

import torch
from torch.export import ExportedProgram

from reducer.core.stage import Stage
from reducer.core.wire import Lowered, ModelJob
from reducer.lowering import backends
from reducer.lowering.errors import SubjectError
from reducer.lowering.execution import Reference, example_set, run
from reducer.lowering.failure import failure_from_exception
from reducer.lowering.healthy_models import MODELS, made
from reducer.lowering.numbers import Tolerance
from reducer.lowering.pipeline import LoweringPlan, StageClock, lower, plan_from_recipe
from reducer.lowering.watch.explain import explain_lowering
from reducer.lowering.watch.invariants import INVARIANTS
from reducer.lowering.watch.watch import Watch


def lower_model(job: ModelJob, clock: StageClock) -> Lowered:
    """Lower it twice. Raises SubjectError for a model or a backend that there is not."""
    if job.model not in MODELS:
        raise SubjectError(f"no healthy model is called {job.model!r}")
    with clock.at(Stage.EXPORT):
        program = _exported(job.model)
    reference = Reference(program)
    try:
        manager = lower(program, _plan(job.backend), clock)
        sets = example_set(program)
        run(manager, program, sets, clock, Stage.COMPARE, reference, Tolerance())
    except Exception as error:  # whatever the compiler, or the runtime, makes of it
        return Lowered(failure_from_exception(error, clock.stage or Stage.TO_EDGE, clock.logged))
    again = _exported(job.model)
    seen = explain_lowering(again, _plan(job.backend), Watch(again, INVARIANTS), StageClock())
    return Lowered(pte=bytes(manager.buffer), explanation=seen)


def _exported(name: str) -> ExportedProgram:
    model, inputs, dynamic = made(name)
    return torch.export.export(model, inputs, dynamic_shapes=dynamic)


def _plan(backend: str) -> LoweringPlan:
    return plan_from_recipe(backends.lowering(backend))
