"""How is a program lowered? Stage by stage, with real ExecuTorch objects."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from reducer.core.property import Property
from reducer.core.recipe import Recipe
from reducer.core.stage import Stage
from reducer.lowering.construct import build
from reducer.lowering.native_log import logged_to


@dataclass
class LoweringPlan:
    """A recipe's objects, built: what ExecuTorch's functions are called with.

    ``recipe`` is what made them, or would; None if that is not known.
    """

    partitioners: list[Any] = field(default_factory=list)
    compile_config: Any = None
    transform_passes: list[Any] = field(default_factory=list)
    executorch_config: Any = None
    two_steps: bool = False
    last_stage: Stage = Stage.TO_EXECUTORCH
    rtol: float | None = None
    atol: float | None = None
    asked: Property | None = None
    recipe: Recipe | None = None

    def anew(self) -> LoweringPlan:
        """The same with new objects, since a script makes its own each time that it lowers."""
        if self.recipe is None:
            return self
        return replace(plan_from_recipe(self.recipe), last_stage=self.last_stage)


class StageClock:
    """Which stage is running, how many seconds did each take, and what did the runtime log?"""

    def __init__(
        self, entered: Callable[[Stage], None] = lambda _: None, log: int | None = None
    ) -> None:
        self.stage: Stage | None = None
        self.logged = ""
        self._log = log
        self._entered = entered
        self._seconds: dict[str, float] = {}

    @contextmanager
    def at(self, stage: Stage) -> Iterator[None]:
        """Count the time of the block as the stage's; after an exception ``stage`` keeps standing."""
        self.stage = stage
        self._entered(stage)
        start = time.perf_counter()
        try:
            with self._listening(stage):
                yield
        finally:
            spent = time.perf_counter() - start
            self._seconds[str(stage)] = self._seconds.get(str(stage), 0.0) + spent

    @contextmanager
    def _listening(self, stage: Stage) -> Iterator[None]:
        """While the runtime is at work, keep what it logs."""
        if stage not in (Stage.LOAD_PTE, Stage.EXECUTE):
            yield
            return
        said: list[str] = []
        try:
            with logged_to(self._log, said):
                yield
        finally:
            self.logged = "".join(said)

    @property
    def seconds(self) -> tuple[tuple[str, float], ...]:
        """(stage, seconds) in the order in which stages first ran."""
        return tuple(self._seconds.items())


def plan_from_recipe(recipe: Recipe) -> LoweringPlan:
    """Build what the recipe describes. Raises SubjectError."""
    return LoweringPlan(
        partitioners=[build(item) for item in recipe.partitioners],
        compile_config=build(recipe.compile_config) if recipe.compile_config else None,
        transform_passes=[build(item) for item in recipe.transform_passes],
        executorch_config=build(recipe.executorch_config) if recipe.executorch_config else None,
        two_steps=recipe.two_steps,
        last_stage=recipe.last_stage,
        rtol=recipe.rtol,
        atol=recipe.atol,
        asked=recipe.asked,
        recipe=recipe,
    )


def lower(program: Any, plan: LoweringPlan, clock: StageClock) -> Any:
    """Lower an exported program up to the plan's last stage. Raises whatever ExecuTorch raises.

    ``to_edge_transform_and_lower`` runs three stages in one call: which of them raised is read off
    the traceback (:mod:`reducer.lowering.stages`).
    """
    from executorch.exir import to_edge, to_edge_transform_and_lower

    with clock.at(Stage.TO_EDGE):
        if plan.two_steps:
            edge = to_edge(program, **_given(compile_config=plan.compile_config))
            if plan.transform_passes:
                edge = edge.transform(plan.transform_passes)
            for partitioner in plan.partitioners:
                edge = edge.to_backend(partitioner)
        else:
            edge = to_edge_transform_and_lower(
                program,
                **_given(
                    transform_passes=plan.transform_passes,
                    partitioner=plan.partitioners,
                    compile_config=plan.compile_config,
                ),
            )
    if plan.last_stage.rank < Stage.TO_EXECUTORCH.rank:
        return edge
    with clock.at(Stage.TO_EXECUTORCH):
        return edge.to_executorch(**_given(config=plan.executorch_config))


def _given(**arguments: Any) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value not in (None, [])}
