"""After which run of which compiler pass does something no longer hold that should?

:class:`Watch` is a context manager. Inside it every pass runs as ever; before and after each run the
invariants look at the graph. What the input had is not the pass's fault, nor is what a nested run did;
what a run leaves behind is the baseline of the next one, so that no neighbour is blamed.
"""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.utils._python_dispatch import _disable_current_modes

from reducer.core.diagnosis import Census, Extraction, Violation
from reducer.core.stage import Stage
from reducer.lowering.errors import headline
from reducer.lowering.failure import Origin
from reducer.lowering.patching import Patches
from reducer.lowering.pipeline import StageClock
from reducer.lowering.stages import stage_of
from reducer.lowering.watch import hooks, stack
from reducer.lowering.watch.identity import Identity
from reducer.lowering.watch.invariants import Invariant, Observation, Skipped
from reducer.lowering.watch.modes import census
from reducer.lowering.watch.partitions import Partitions
from reducer.lowering.watch.run import Run
from reducer.lowering.watch.view import View, graph_after, graph_in

#: Graphs whose observations are remembered: what one pass leaves, the next one finds.
_REMEMBERED = 6


class Watch:
    """Watches all passes that run inside it; ``program`` is what was handed in to be lowered.

    ``began`` is told of each run before it goes on; ``before`` is then the graph that the pass is given.
    """

    def __init__(
        self,
        program: ExportedProgram | None,
        invariants: Sequence[Invariant],
        clock: StageClock | None = None,
        began: Callable[[Run], None] = lambda _: None,
    ) -> None:
        self.program = program
        self.invariants = invariants
        self.partitions = Partitions()
        self.runs: list[Run] = []
        self.census: Census | None = None
        self.seconds = 0.0
        self.origin = Origin(program) if program is not None else None
        self._clock = clock or StageClock()
        self._began = began
        self._patches = Patches()
        self._programs: list[ExportedProgram | None] = [program]
        self._stack: list[Run] = []
        self._known: OrderedDict[Any, tuple[dict[str, Observation], View]] = OrderedDict()
        self._times: Counter[Any] = Counter()
        self._given: list[Violation] = []
        self._ended = 0
        self._checking = False

    def __enter__(self) -> Watch:
        if self.program is not None:
            with self._check():
                self._given = self._alone(self._observe(self._view(self.program)))
        hooks.install(self._patches, self)
        self.partitions.install(self._patches, self._inside)
        return self

    def __exit__(self, *_: object) -> None:
        self._patches.undo()

    @property
    def culprits(self) -> list[Run]:
        """Runs that broke something, in the order in which they ended."""
        return sorted((run for run in self.runs if run.violations), key=lambda run: run.ended)

    @property
    def input_violations(self) -> list[Violation]:
        """What did not hold of the program that was handed in, or before the first pass ran."""
        first = self.runs[0].inherited if self.runs else []
        return self._given + [item for item in first if item not in self._given]

    def program_is(self, program: ExportedProgram) -> None:
        """Passes now run on this program's graph."""
        if not self._checking and not (self._stack and stack.is_aside(stack.frames())):
            self._programs[-1] = program

    def extracted(self, inputs: list[Any]) -> None:
        """The retrace that is running took these as its inputs."""
        if self._stack and not self._checking:
            fake = sum(isinstance(value, torch._subclasses.FakeTensor) for value in inputs)
            real = sum(isinstance(value, torch.Tensor) for value in inputs) - fake
            self._stack[-1].extraction = Extraction(real, fake, len(inputs) - fake - real)

    def retracing(self) -> None:
        """It begins: under the Python dispatcher or not. What it goes on to trace inside is the same."""
        run = self._stack[-1] if self._stack and not self._checking else None
        if run is not None and run.extraction is not None and run.extraction.dispatcher is None:
            on = torch._C._dispatch_tls_is_dispatch_key_included("PythonDispatcher")
            run.extraction = replace(run.extraction, dispatcher=on)

    def watched(
        self,
        thing: Any,
        who: Callable[[], Identity],
        arguments: tuple[Any, ...],
        run: Callable[[], Any],
    ) -> Any:
        """Run a pass between two looks at the graph, and give what it gives."""
        subject = graph_in(arguments)
        if self._checking or subject is None or self._is_running(thing, subject):
            return run()
        frames = stack.frames()
        if stack.is_aside(frames):
            return run()
        with self._check():
            current = self._begin(thing, who(), subject, frames, alone=len(arguments) == 1)
        self._stack.append(current)
        began, spent = time.perf_counter(), self.seconds
        try:
            result = run()
        except BaseException as error:
            current.error = error
            raise
        finally:
            current.seconds = time.perf_counter() - began - (self.seconds - spent)
            self._stack.pop()
            self._programs.pop()
            current.ended, self._ended = self._ended, self._ended + 1
        with self._check():
            self._end(current, graph_after(result, subject))
        return result

    def _is_running(self, thing: Any, subject: Any) -> bool:
        """Whether this is the same run again, as when ``__call__`` calls its base's."""
        top = self._stack[-1] if self._stack else None
        if top is None or top.before is None or top.thing != thing:
            return False
        return top.before.module is _module(subject)

    def _begin(
        self,
        thing: Any,
        who: Identity,
        subject: Any,
        frames: list[tuple[str, str]],
        *,
        alone: bool,
    ) -> Run:
        # What it goes on to work with is forgotten when it ends: it may lower programs of its own.
        known = subject if isinstance(subject, ExportedProgram) else self._programs[-1]
        self._programs.append(known)
        key = thing if isinstance(thing, tuple) else id(thing)
        self._times[key] += 1
        view = self._view(subject)
        run = Run(
            thing, who, len(self.runs), stage_of(frames, self._clock.stage or Stage.TO_EDGE),
            self.partitions.current, self._stack[-1] if self._stack else None,
            self._times[key], view, self._observe(view),
        )  # fmt: skip
        run.inherited = self._alone(run.was)
        run.digests = (view.digest, "")
        run.takes = ("program" if view.whole else "graph") if alone else "more"
        self.runs.append(run)
        self._began(run)
        return run

    def _end(self, run: Run, found: torch.fx.GraphModule | ExportedProgram) -> None:
        if isinstance(found, ExportedProgram):
            self._programs[-1] = found
        view = self._view(found)
        run.digests = (run.digests[0], view.digest)
        now = self._observe(view)
        nested = Counter(_kind(v) for r in self.runs if r.is_in(run) for v in r.violations)
        for check in self.invariants:
            was, here = run.was[check.NAME], now[check.NAME]
            for side in (was, here):
                if isinstance(side, Skipped):
                    run.skipped.setdefault(check.NAME, side.reason)
            for violation in check.caused(was, here):
                if nested[_kind(violation)] > 0:
                    nested[_kind(violation)] -= 1
                else:
                    run.violations.append(violation)
        if run.violations:
            self._look_closer(run, view)
        run.before, run.was = None, {}  # a program may be large

    def _look_closer(self, run: Run, view: View) -> None:
        """Note what can only be seen now: later passes change it."""
        if self.census is None and any(v.invariant == "one-fake-mode" for v in run.violations):
            self.census = replace(census(view), run=run.index)
        if self.origin is not None:
            at = {violation.node for violation in run.violations}
            run.suspects = list(self.origin.all(n for n in view.nodes if n.name in at))

    def _view(self, subject: torch.fx.GraphModule | ExportedProgram) -> View:
        if isinstance(subject, ExportedProgram):
            return View(subject.graph_module, subject, whole=True)
        return View(subject, self._programs[-1])

    def _observe(self, view: View) -> dict[str, Observation]:
        # The view keeps the tensors alive whose identity is part of its key.
        known, _ = self._known.setdefault(view.key, ({}, view))
        self._known.move_to_end(view.key)
        found: dict[str, Observation] = {}
        for check in self.invariants:
            key = f"{check.NAME} {view.whole}"
            if key not in known or not check.OF_THE_GRAPH:
                known[key] = _asked(check, view, self.program)
            found[check.NAME] = known[key]
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return found

    def _alone(self, seen: dict[str, Observation]) -> list[Violation]:
        return [item for check in self.invariants for item in check.alone(seen[check.NAME])]

    @contextmanager
    def _inside(self, program: ExportedProgram) -> Iterator[None]:
        """A backend compiles ``program``."""
        self._programs.append(program)
        try:
            yield
        finally:
            self._programs.pop()

    @contextmanager
    def _check(self) -> Iterator[None]:
        """What runs inside is ours: not watched, no mode of a caller active, its time not a pass's."""
        began, self._checking = time.perf_counter(), True
        try:
            with _disable_current_modes(), torch.no_grad():
                yield
        finally:
            self._checking = False
            self.seconds += time.perf_counter() - began


def _asked(check: Invariant, view: View, program: ExportedProgram | None) -> Observation:
    try:
        return check.observe(view, program)
    except Exception as error:  # a graph may be anything: the check must not become the failure
        return Skipped(headline(error)[:200])


def _kind(violation: Violation) -> tuple[str, str]:
    return violation.invariant, violation.what


def _module(subject: Any) -> Any:
    return subject.graph_module if isinstance(subject, ExportedProgram) else subject
