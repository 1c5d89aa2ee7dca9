"""What happened when something raised? An exception as plain facts.

Besides the chain of causes this reads what the frames of the traceback hold: the program of the
failing delegate, and the nodes that the code which raised was looking at. Both are mapped back to
the exported program along ``from_node``, so the failing region is known after one call.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from types import FrameType
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx.passes.infra.pass_base import PassBase

from reducer.core.kind import Kind
from reducer.core.signature import ChainLink, Failure, Frame
from reducer.core.stage import Stage
from reducer.core.wire import Attempt
from reducer.lowering.native_log import complaints
from reducer.lowering.numbers import WrongNumbers
from reducer.lowering.stages import stage_of

#: Messages longer than this are cut: some contain a whole printed graph.
_MESSAGE_LIMIT = 4000
#: The nodes at fault are looked for in this many innermost frames that hold any node.
_SUSPECT_FRAMES = 3


def attempt_from_exception(
    error: BaseException,
    program: ExportedProgram | None,
    stage_default: Stage,
    seconds: tuple[tuple[str, float], ...] = (),
    log: str = "",
) -> Attempt:
    """The failure, its partition and its suspects, in names of ``program``'s nodes.

    ``log`` is what the runtime wrote meanwhile: the reason behind its error code.
    """
    failure = failure_from_exception(error, stage_default, log)
    if program is None:
        return Attempt(failure, seconds=seconds)
    origin = Origin(program)
    return Attempt(
        failure,
        partition=_partition(error, failure.stage, origin),
        suspects=_suspects(error, origin),
        seconds=seconds,
    )


def failure_from_exception(error: BaseException, stage_default: Stage, log: str = "") -> Failure:
    """The chain of causes with types, messages and frames; the stage; the passes on the stack."""
    if isinstance(error, WrongNumbers):
        link = ChainLink("WrongNumbers", str(error))
        return Failure(
            Stage.COMPARE, (link,), kind=Kind.WRONG, allowed=error.allowed, excess=error.excess
        )
    errors = chain(error)
    links = tuple(
        ChainLink(_type_name(link), str(link)[:_MESSAGE_LIMIT], tuple(_describe(_frames(link))))
        for link in errors
    )
    stage = stage_of(
        ((frame.module, frame.function) for link in links for frame in link.frames), stage_default
    )
    if stage in (Stage.LOAD_PTE, Stage.EXECUTE) and (said := complaints(log)):
        links += (ChainLink("executorch runtime", said),)
    return Failure(stage, links, tuple(_passes(errors)))


def chain(error: BaseException) -> list[BaseException]:
    """The exception and its causes, as Python prints them: ``__cause__``, else unsuppressed context."""
    links: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in links:
        links.append(current)
        following = current.__cause__
        if following is None and not current.__suppress_context__:
            following = current.__context__
        current = following
    return links


def _type_name(error: BaseException) -> str:
    cls = type(error)
    return (
        cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"
    )


def _frames(error: BaseException) -> Iterator[tuple[FrameType, int]]:
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next


def _describe(frames: Iterable[tuple[FrameType, int]]) -> Iterator[Frame]:
    for frame, line in frames:
        module = str(frame.f_globals.get("__name__", ""))
        if module.split(".", maxsplit=1)[0] != "reducer":
            yield Frame(module, frame.f_code.co_name, line)


def _passes(links: list[BaseException]) -> Iterator[str]:
    """Class names of the compiler passes that were running, from the cause's frames, outer to inner."""
    previous = None
    for frame, _ in _frames(links[-1]):
        owner = frame.f_locals.get("self")
        if isinstance(owner, PassBase) and owner is not previous:
            previous = owner
            yield type(owner).__name__


class Origin:
    """Which nodes of the exported program did a node of a later graph come from?"""

    def __init__(self, program: ExportedProgram) -> None:
        self.names = {node.name for node in program.graph.nodes if node.op != "output"}
        calls = [node for node in program.graph.nodes if node.op == "call_function"]
        self.calls = {node.name for node in calls}
        self.targets = {node.name: str(node.target) for node in calls}

    def of(self, node: torch.fx.Node) -> str | None:
        """The name at the far end of the node's ``from_node`` chain, or its own if the program has it."""
        source = node.meta.get("from_node") or []
        name = node.name
        while source:
            name = source[-1].name
            source = source[-1].from_node
        # An input keeps its name through lowering, while its chain may end anywhere.
        names = (node.name, name) if node.op == "placeholder" else (name, node.name)
        return next((found for found in names if found in self.names), None)

    def called(self, message: str) -> tuple[str, ...]:
        """Calls of the operators that a message names, as in ``aten.abs.default``."""
        named = set(re.findall(r"\b\w+\.\w+\.\w+\b", message))
        return tuple(name for name, target in self.targets.items() if target in named)

    def all(self, nodes: Iterable[torch.fx.Node]) -> tuple[str, ...]:
        """Origins of all nodes, without repeats, in order."""
        found = (self.of(node) for node in nodes if node.op != "output")
        return tuple(dict.fromkeys(name for name in found if name is not None))


def _partition(error: BaseException, stage: Stage, origin: Origin) -> tuple[str, ...]:
    """Origins of the operator calls in the program that failed.

    In preprocess: the program which the backend was handed, i.e. the outermost one below the stage's
    own frame (passes have not rewritten it yet). Elsewhere: the innermost program that is only part
    of the whole.
    """
    if stage not in (Stage.PARTITION, Stage.PREPROCESS):
        return ()
    programs: list[ExportedProgram] = []
    for link in chain(error):
        inside = stage is not Stage.PREPROCESS
        for frame, _ in _frames(link):
            if inside:
                programs += [
                    v for v in list(frame.f_locals.values()) if isinstance(v, ExportedProgram)
                ]
            elif frame.f_code.co_name == "lower_all_submodules_to_backend":
                inside = True
    for program in programs if stage is Stage.PREPROCESS else reversed(programs):
        calls = [node for node in program.graph.nodes if node.op == "call_function"]
        found = tuple(name for name in origin.all(calls) if name in origin.calls)
        if found and len(found) < len(origin.calls):
            return found
    return ()


def logged_operators(manager: Any, program: ExportedProgram, log: str) -> tuple[str, ...]:
    """Origins of the calls whose kernel failed, as far as the runtime's log names it."""
    named = set(re.findall(r"\b\w+::\w+(?:\.\w+)?", complaints(log)))
    calls = [
        node
        for node in manager.exported_program().graph.nodes
        if node.op == "call_function" and _kernel(node.target) in named
    ]
    return Origin(program).all(calls)


def _kernel(target: Any) -> str:
    schema = getattr(target, "_schema", None)
    if schema is None:
        return ""
    return f"{schema.name}.{schema.overload_name}" if schema.overload_name else str(schema.name)


def _suspects(error: BaseException, origin: Origin) -> tuple[str, ...]:
    """Origins of the nodes that local variables of the innermost frames hold, innermost first."""
    frames = [frame for link in chain(error) for frame, _ in _frames(link)]
    found: list[torch.fx.Node] = []
    holding = 0
    for frame in reversed(frames):
        nodes = [
            value for value in list(frame.f_locals.values()) if isinstance(value, torch.fx.Node)
        ]
        known = [node for node in nodes if origin.of(node) is not None]
        if known:
            found += known
            holding += 1
        if holding == _SUSPECT_FRAMES:
            break
    return origin.all(found) or origin.called(str(chain(error)[-1]))
