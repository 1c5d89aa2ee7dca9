"""Which graph was a pass given in the middle of lowering?"""

from __future__ import annotations

from reducer.core.case import Case
from reducer.core.recipe import Recipe
from reducer.core.wire import PassGraph, PassGraphJob
from reducer.lowering import recorder
from reducer.lowering.data import DataStore
from reducer.lowering.errors import SubjectError, headline
from reducer.lowering.fx.to_fx import export_case
from reducer.lowering.pass_alone.read import case_from_view
from reducer.lowering.pipeline import StageClock, lower, plan_from_recipe
from reducer.lowering.user_modules import provide
from reducer.lowering.watch.run import Run
from reducer.lowering.watch.watch import Watch


class _Caught(BaseException):
    """The graph was met: nothing that comes after it matters."""


def pass_graph(job: PassGraphJob, clock: StageClock) -> PassGraph:
    """Lower the case up to the run; a reason where its graph has no plain form."""
    recorder.install()
    data = DataStore(job.data_dir)
    caught: list[Case] = []

    def began(run: Run) -> None:
        if run.index == job.run:
            caught.append(_case(run, job.case.recipe, data))
            raise _Caught

    provide(job.case, job.data_dir)
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
    assert run.before is not None
    kept = Recipe(recipe.backend, last_stage=run.stage, modules=recipe.modules)
    return case_from_view(run.before, kept, data)
