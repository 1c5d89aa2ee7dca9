"""Which function does which job? Runs in the forked child."""

from __future__ import annotations

from reducer.core.wire import (
    BackendsJob,
    CaptureJob,
    DifferenceJob,
    ExplainJob,
    Job,
    JudgeJob,
    ModelJob,
    PassGraphJob,
    RebuildJob,
    Refused,
    Result,
    SpellJob,
    VersionLines,
    VersionsJob,
)
from reducer.lowering.errors import SubjectError
from reducer.lowering.line import Line
from reducer.lowering.pipeline import StageClock


def run_job(job: Job, line: Line) -> Result:
    """Do one job; each stage is told on the line as it begins. What the user can mend is Refused."""
    clock = StageClock(line.entered, line.log)
    try:
        if isinstance(job, JudgeJob):
            if job.case.recipe.alone is not None:
                from reducer.lowering.pass_alone.run import run_alone

                return run_alone(job, clock)
            if job.case.source:
                from reducer.lowering.source.run import judge_source

                return judge_source(job, clock)
            from reducer.lowering.judge import judge

            return judge(job, clock)
        if isinstance(job, CaptureJob):
            from reducer.lowering.capture import capture

            return capture(job, clock, line.captured)
        if isinstance(job, ExplainJob):
            from reducer.lowering.watch.explain import explain

            return explain(job, clock)
        if isinstance(job, PassGraphJob):
            from reducer.lowering.pass_alone.hand_over import pass_graph

            return pass_graph(job, clock)
        if isinstance(job, SpellJob):
            from reducer.lowering.spell import spell

            return spell(job)
        if isinstance(job, RebuildJob):
            from reducer.lowering.judge import rebuild

            return rebuild(job)
        if isinstance(job, BackendsJob):
            from reducer.lowering.backends import status

            return status(few=job.few)
        if isinstance(job, ModelJob):
            from reducer.lowering.lower_model import lower_model

            return lower_model(job, clock)
        if isinstance(job, DifferenceJob):
            from reducer.lowering.difference import difference

            return difference(job)
        if isinstance(job, VersionsJob):
            from reducer.lowering.versions import versions

            return VersionLines(versions())
    except SubjectError as error:
        return Refused(error.message, error.hint)
    raise TypeError(f"unknown job {type(job).__name__}")
