"""Which partitions were formed, and which nodes did a partitioner leave out, for which reason?"""

from __future__ import annotations

import functools
import logging
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind

from reducer.core.diagnosis import PartitionFacts, Refusal
from reducer.lowering.patching import Patches
from reducer.lowering.watch.modes import target_of

#: Frames above a log record in which the node that it is about is looked for.
_DEPTH = 8
_REASON = re.compile(r"Due to \[(.*?)\], skipping|was not partitioned because (.*?)\.?$", re.DOTALL)


@dataclass
class Delegate:
    """A program that a backend compiles."""

    backend: str
    program: ExportedProgram
    nodes: list[torch.fx.Node] = field(default_factory=list)

    def __post_init__(self) -> None:
        # As it was handed over: passes rewrite the program.
        self.nodes = [node for node in self.program.graph.nodes if node.op == "call_function"]
        self.targets = tuple(target_of(node) for node in self.nodes)
        kinds = [spec.kind for spec in self.program.graph_signature.input_specs]
        stored = (InputKind.PARAMETER, InputKind.BUFFER)
        self.inputs = (
            kinds.count(InputKind.USER_INPUT),
            sum(kind in stored for kind in kinds),
            kinds.count(InputKind.CONSTANT_TENSOR),
        )


@dataclass
class Partitions:
    """What partitioners tagged and said, and the delegates that came of it."""

    delegates: list[Delegate] = field(default_factory=list)
    neighbours: dict[str, list[torch.fx.Node]] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    current: int | None = None

    def install(self, patches: Patches, entered: Callable[[ExportedProgram], Any]) -> None:
        """Hook all partitioners and backends; ``entered`` is called around each ``preprocess``."""
        from executorch.exir.backend.backend_details import BackendDetails
        from executorch.exir.backend.partitioner import Partitioner

        partition = Partitioner.__call__

        @functools.wraps(partition)
        def call(partitioner: Any, program: ExportedProgram) -> Any:
            with self._listening():
                result = partition(partitioner, program)
            self._tagged(result.tagged_exported_program)
            return result

        patches.attribute(Partitioner, "__call__", call)
        for backend in BackendDetails.__subclasses__():
            if "preprocess" in vars(backend):
                patches.attribute(backend, "preprocess", self._preprocess(backend, entered))

    def _preprocess(self, backend: Any, entered: Callable[[ExportedProgram], Any]) -> Any:
        original = backend.preprocess

        def preprocess(*args: Any, **kwargs: Any) -> Any:
            programs = [item for item in (*args, *kwargs.values()) if _is_program(item)]
            if not programs:
                return original(*args, **kwargs)
            self.current = len(self.delegates)
            self.delegates.append(Delegate(backend.__name__, programs[0]))
            with entered(programs[0]):
                result = original(*args, **kwargs)
            self.current = None  # left standing if it raised: that is the one that failed
            return result

        return staticmethod(preprocess)

    def facts(self, number: int, named: Callable[[torch.fx.Node], str | None]) -> PartitionFacts:
        """What is known of a delegate; ``named`` gives a node's name in the exported program."""
        delegate = self.delegates[number]
        tags = {node.meta.get("delegation_tag") for node in delegate.nodes} - {None}
        around = [node for tag in sorted(tags) for node in self.neighbours.get(tag, ())]
        refused = (
            Refusal(named(node) or node.name, target_of(node), self.reasons.get(node.name, ""))
            for node in dict.fromkeys(around)
        )
        names = (named(node) or node.name for node in delegate.nodes)
        return PartitionFacts(
            delegate.backend,
            number,
            len(self.delegates),
            tuple(dict.fromkeys(names)),
            delegate.targets,
            delegate.inputs,
            tuple(refused),
        )

    def _tagged(self, program: ExportedProgram) -> None:
        """For each tag the nodes next to its own that have none."""
        for node in program.graph.nodes:
            if (tag := node.meta.get("delegation_tag")) and node.op == "call_function":
                around = [*node.all_input_nodes, *node.users]
                self.neighbours.setdefault(tag, []).extend(
                    other
                    for other in around
                    if other.op == "call_function" and not other.meta.get("delegation_tag")
                )

    @contextmanager
    def _listening(self) -> Iterator[None]:
        """Hear what the partitioner says about nodes, at any level, without printing more of it."""
        listener = _Listener(self.reasons)
        loggers = [logging.getLogger()] + [
            logger
            for name, logger in logging.Logger.manager.loggerDict.items()
            if name.startswith("executorch") and isinstance(logger, logging.Logger)
        ]
        levels = [logger.level for logger in loggers]
        handlers = logging.getLogger().handlers
        told = [(handler, handler.level) for handler in handlers]
        for handler in handlers:
            handler.setLevel(max(handler.level, logging.INFO))
        for logger in loggers:
            logger.setLevel(logging.DEBUG)
        logging.getLogger().addHandler(listener)
        try:
            yield
        finally:
            logging.getLogger().removeHandler(listener)
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)
            for handler, level in told:
                handler.setLevel(level)


class _Listener(logging.Handler):
    """Notes a record as the reason of the node that the code which logs it is looking at."""

    def __init__(self, reasons: dict[str, str]) -> None:
        super().__init__(logging.DEBUG)
        self.reasons = reasons

    def emit(self, record: logging.LogRecord) -> None:
        """Take a record; the first one about a node counts."""
        node = _node_on_stack()
        if node is not None:
            said = record.getMessage()
            found = _REASON.search(said)
            reason = next((group for group in found.groups() if group), said) if found else said
            self.reasons.setdefault(node.name, " ".join(reason.split())[:200])


def _node_on_stack() -> torch.fx.Node | None:
    frame, left = sys._getframe(2), _DEPTH
    while frame is not None and left:
        if frame.f_globals.get("__name__", "").split(".")[0] != "logging":
            left -= 1
            for value in list(frame.f_locals.values()):
                if isinstance(value, torch.fx.Node):
                    return value
        frame = frame.f_back  # type: ignore[assignment]
    return None


def _is_program(thing: Any) -> bool:
    return isinstance(thing, ExportedProgram)
