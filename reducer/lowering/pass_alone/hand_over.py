"""Which graph was a pass given in the middle of lowering? As a case that runs this pass alone."""

from __future__ import annotations

import torch

from reducer.core.case import Case
from reducer.core.recipe import Construct, PassCall, Recipe
from reducer.core.wire import PassGraph, PassGraphJob
from reducer.lowering import recorder
from reducer.lowering.data import DataStore
from reducer.lowering.errors import SubjectError, headline
from reducer.lowering.fx.to_fx import export_case
from reducer.lowering.pass_alone.read import case_from_view
from reducer.lowering.pipeline import StageClock, lower, plan_from_recipe
from reducer.lowering.watch.run import Run
from reducer.lowering.watch.view import View
from reducer.lowering.watch.watch import Watch

#: What fills ``meta["spec"]``, which passes on the way to memory planning read.
_SPECS = "executorch.exir.passes.spec_prop_pass:SpecPropPass"


class _Caught(BaseException):
    """The graph was met: nothing that comes after it matters."""


def pass_graph(job: PassGraphJob, clock: StageClock) -> PassGraph:
    """Lower the case up to the run; a reason where its graph, or its pass, has no plain form."""
    recorder.install()
    data = DataStore(job.data_dir)
    caught: list[Case] = []

    def began(run: Run) -> None:
        if run.index == job.run:
            caught.append(_case(run, job.case.recipe, data))
            raise _Caught

    program = export_case(job.case, data)
    plan = plan_from_recipe(job.case.recipe)
    try:
        with Watch(program, (), clock, began):
            lower(program, plan, clock)
    except _Caught:
        return PassGraph(caught[0])
    except SubjectError as error:
        return PassGraph(reason=error.message)
    except Exception as error:
        return PassGraph(reason=headline(error))
    return PassGraph(reason="the pass was not met again")


def _case(run: Run, recipe: Recipe, data: DataStore) -> Case:
    who, view = run.who, run.before
    assert view is not None
    if who.construct is None:
        made = f", which was made from ({', '.join(who.arguments)})" if who.arguments else ""
        raise SubjectError(f"no call is known that constructs {who.name}{made}")
    call = PassCall(who.construct, "program" if view.whole else "graph", _prepared(view))
    alone = Recipe(recipe.backend, last_stage=run.stage, alone=call)
    return case_from_view(view, alone, data)


def _prepared(view: View) -> tuple[Construct, ...]:
    """Passes that have to run first for what the values' description alone does not say."""
    described = any(
        "spec" in node.meta and isinstance(node.meta.get("val"), torch.Tensor)
        for node in view.nodes
    )
    return (Construct(_SPECS),) if described else ()
