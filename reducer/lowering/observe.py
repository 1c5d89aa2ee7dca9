"""Which calls does an unmodified script make to export and to lower, and which of them raises?

While an :class:`Observer` is active, the functions by which every script must pass (``to_edge``,
``torch.export.export``, ``to_edge_transform_and_lower``, methods of the edge manager, entry points
of the runtime) note what they are given and what they raise, whatever the script calls its
variables. Calls that these functions make of each other are not the script's and are passed over.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any

from torch.export import ExportedProgram

from reducer.core.stage import Stage
from reducer.lowering.lowering_calls import LoweringCalls, Skip, Snapshot
from reducer.lowering.observed import Lowering, Observation, Record
from reducer.lowering.patching import Patches
from reducer.lowering.pipeline import StageClock

Before = Callable[[inspect.BoundArguments], "Lowering | None"]

_QUANTIZATION = ("torchao.quantization.pt2e.quantize_pt2e", "torch.ao.quantization.quantize_pt2e")
_QUANTIZE = ("prepare_pt2e", "prepare_qat_pt2e", "convert_pt2e")

_NATIVE = "executorch.extension.pybindings.portable_lib"
_RUNTIME = "executorch.runtime"
#: (module, class or "" for functions, names, stage): what reads and runs a .pte.
_RUNS: tuple[tuple[str, str, tuple[str, ...], Stage], ...] = (
    (
        _NATIVE,
        "",
        (
            "_load_for_executorch",
            "_load_for_executorch_from_buffer",
            "_load_for_executorch_from_data_loader",
            "_load_program",
            "_load_program_from_buffer",
        ),
        Stage.LOAD_PTE,
    ),
    (_RUNTIME, "Runtime", ("load_program",), Stage.LOAD_PTE),
    (_RUNTIME, "Program", ("load_method",), Stage.EXECUTE),  # delegates are initialised
    (_RUNTIME, "Method", ("execute",), Stage.EXECUTE),
    (_NATIVE, "ExecuTorchModule", ("__call__", "forward", "run_method"), Stage.EXECUTE),
)


class Observer:
    """A context manager: inside it, the script's calls are noted in ``record``.

    ``snapshot`` makes a case of a program before it is lowered; ``override``, if given, makes the
    partitioners that replace the script's own. ``clock`` is told which stage is running, ``tell``
    what is being lowered or run.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        clock: StageClock,
        override: Callable[[], list[Any]] | None = None,
        tell: Callable[[Observation], None] = lambda _: None,
    ) -> None:
        self.record = Record()
        self._tell = tell
        self._clock = clock
        self._calls = LoweringCalls(snapshot, override, self._delegate)
        self._emitted: Lowering | None = None
        self._busy = False
        self._patches = Patches()

    def __enter__(self) -> Observer:
        import torch.export
        from executorch.exir.program import _program as program

        self._function(torch.export.export, Stage.EXPORT, _nothing)
        for name in _QUANTIZATION:
            with suppress(ImportError):
                module = import_module(name)
                for function in _QUANTIZE:
                    self._function(getattr(module, function), Stage.QUANTIZE, _nothing)
        calls = self._calls
        self._function(program.to_edge_transform_and_lower, Stage.TO_EDGE, calls.lower)
        self._function(program.to_edge, Stage.TO_EDGE, calls.to_edge)
        manager = program.EdgeProgramManager
        self._method(manager, "transform", Stage.TO_EDGE, calls.transform)
        self._method(manager, "to_backend", Stage.PARTITION, calls.to_backend)
        self._method(manager, "to_executorch", Stage.TO_EXECUTORCH, calls.to_executorch)
        self._runtime()
        return self

    def __exit__(self, *_: object) -> None:
        self._patches.undo()

    def _function(self, original: Any, stage: Stage, before: Before) -> None:
        self._patches.everywhere(original, self._around(original, stage, before))

    def _method(self, cls: type, name: str, stage: Stage, before: Before) -> None:
        self._patches.attribute(cls, name, self._around(getattr(cls, name), stage, before))

    def _runtime(self) -> None:
        for module_name, cls_name, names, stage in _RUNS:
            try:
                module = import_module(module_name)
            except ImportError:
                continue  # a wheel without the runtime: scripts cannot call it either
            owner = getattr(module, cls_name, None) if cls_name else module
            for name in names:
                original = getattr(owner, name, None)
                if original is None:
                    continue
                if cls_name:
                    self._patches.attribute(owner, name, self._running(original, stage))
                else:
                    self._patches.everywhere(original, self._running(original, stage))

    def _around(self, original: Any, stage: Stage, before: Before) -> Any:
        function = _undecorated(original)
        signature = inspect.signature(function)

        @functools.wraps(function)
        def observed(*args: Any, **kwargs: Any) -> Any:
            if self._busy:
                return original(*args, **kwargs)
            try:
                call = signature.bind(*args, **kwargs)
            except TypeError:
                return original(*args, **kwargs)  # raises the same, in its own words
            seen = Observation(function.__name__, stage, handled=sys.exc_info()[1])
            self._busy = True
            try:
                self._prepare(seen, before, call)
                result = self._note(seen, lambda: original(*call.args, **call.kwargs))
            except Skip as skip:
                return skip.result
            finally:
                self._busy = False
            if stage is Stage.TO_EXECUTORCH:
                self._emitted = seen.lowering
            elif seen.lowering is not None:
                self._calls.managers[result] = seen.lowering
            return result

        return observed

    def _prepare(self, seen: Observation, before: Before, call: inspect.BoundArguments) -> None:
        try:
            seen.lowering = before(call)
        except Skip:
            raise
        except Exception as error:
            if any(other.error is error for other in self.record.calls):
                raise  # from the call that replaces one of the script's
            seen.trouble = error  # ours: the script must not see it

    def _running(self, original: Any, stage: Stage) -> Any:
        @functools.wraps(original)
        def observed(*args: Any, **kwargs: Any) -> Any:
            if self._busy:
                return original(*args, **kwargs)
            seen = Observation(original.__name__, stage, self._emitted, handled=sys.exc_info()[1])
            given = [value for value in args[1:] if isinstance(value, list | tuple)]
            if stage is Stage.EXECUTE and given:
                seen.inputs = tuple(given[0])
            self._busy = True
            try:
                return self._note(seen, lambda: original(*args, **kwargs))
            finally:
                self._busy = False

        return observed

    def _note(self, seen: Observation, run: Callable[[], Any]) -> Any:
        self.record.calls.append(seen)
        if seen.lowering is not None:
            self._tell(seen)
        try:
            with self._clock.at(seen.stage):
                result = run()
        except Exception as error:
            seen.error = error
            raise
        if isinstance(result, ExportedProgram):
            seen.program = result
        return result

    def _delegate(self, manager: Any, partitioner: Any) -> Any:
        self._busy = False  # a call of its own, and observed as one
        try:
            return manager.to_backend(partitioner)
        finally:
            self._busy = True


def _nothing(_: inspect.BoundArguments) -> None:
    """Export and quantization lower nothing."""


def _undecorated(function: Any) -> Any:
    """ExecuTorch decorates its API with wrappers that hide the signature: what is inside has it."""
    while True:
        inner = inspect.getclosurevars(function).nonlocals.get("func")
        if not callable(inner) or not hasattr(inner, "__code__"):
            return function
        function = inner
