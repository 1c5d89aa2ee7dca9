"""What was a job doing when it died? Read from what it had said by then.

The Python stack is written down when a signal kills the process, and now and then while its time
runs out: where a job hangs is the innermost call that all of these stacks share, or where it stood when
it was asked, if it had been silent until then.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import pairwise

from reducer.core import text
from reducer.core.errors import BadInput
from reducer.core.kind import Kind
from reducer.core.signature import ChainLink, Failure, Frame, raise_site
from reducer.core.stage import Stage
from reducer.core.wire import Capture, Death
from reducer.lowering.line import SAMPLE, STACK, STILL
from reducer.lowering.native_log import complaints
from reducer.lowering.stages import stage_of

_KINDS = {"timeout": Kind.HANGS, "memory": Kind.MEMORY}
_TYPES = {"timeout": "Hang", "memory": "OutOfMemory"}

_STAGE = re.compile(rf"^stage ({'|'.join(stage.value for stage in Stage)}) ([\d.]+)$")
_FRAME = re.compile(r'^  File "(.*)", line (\d+) in (.*)$')
_FATAL = "Fatal Python error:"
#: The last stacks before the end, of which a hang's place is what they share.
_LAST = 3


def death(kind: str, detail: str, progress: str, output: str, log: str) -> Death:
    """The death as a result. ``progress`` is what came on the job's line, ``log`` the runtime's."""
    lines = progress.splitlines()
    told = [(Stage(found[1]), float(found[2])) for line in lines if (found := _STAGE.match(line))]
    if not told or kind == "cancelled":
        return Death(kind, detail, output=output + log)
    stage = told[-1][0]
    seconds = [(str(a), later - began) for (a, began), (_, later) in pairwise(told)]
    failure = _failure(kind, detail, stage, lines, f"{output}\n{log}")
    return Death(kind, detail, stage, output + log, failure, _captured(lines), tuple(seconds))


def stands_still(progress: str) -> bool:
    """Whether the last stacks are the very same, lines included."""
    last = list(_stacks(progress.splitlines()))[-STILL - 1 :]
    return len(last) > STILL and len(set(last)) == 1


def _failure(kind: str, detail: str, stage: Stage, lines: list[str], printed: str) -> Failure:
    frames = _frames(kind, lines)
    if stage in (Stage.LOAD_PTE, Stage.EXECUTE):
        frames = ()  # one call into the runtime, whichever way it is made
    told = detail if kind == "signal" else f"ExitCode{detail}" if kind == "exit" else _TYPES[kind]
    allowed = float(detail.split(maxsplit=1)[0]) if kind in _KINDS else 0.0
    message = complaints(printed)
    if kind == "timeout":
        message = f"no end after {detail}"
    elif kind == "memory":
        message, allowed = f"more than {detail}", allowed * 2**20
    found = stage_of(((frame.module, frame.function) for frame in frames), stage)
    link = ChainLink(told, message, tuple(frames))
    if not message and frames:
        link = replace(link, message=f"in {raise_site(link)}")
    return Failure(found, (link,), kind=_KINDS.get(kind, Kind.DIES), allowed=allowed)


def _frames(kind: str, lines: list[str]) -> tuple[Frame, ...]:
    """Where it was, as far as that was written down at the time."""
    if kind == "timeout":
        last = max((n for n, line in enumerate(lines) if line.endswith(STACK)), default=0)
        if lines[last : last + 1] and not lines[last].startswith(SAMPLE):
            return next(_stacks(lines[last:]), ())  # it was asked, since it had been silent
        return _standing(list(_stacks(lines))[-_LAST:])
    fatal = [place for place, line in enumerate(lines) if line.startswith(_FATAL)]
    if kind != "signal" or not fatal:
        return ()
    return next(_stacks(lines[fatal[-1] :]), ())


def _standing(stacks: list[tuple[Frame, ...]]) -> tuple[Frame, ...]:
    """Of the last stack, what all others have as well, from outer to inner."""
    if not stacks:
        return ()
    shared = set.intersection(*({(f.module, f.function) for f in stack} for stack in stacks))
    return tuple(frame for frame in stacks[-1] if (frame.module, frame.function) in shared)


def _stacks(lines: Iterable[str]) -> Iterator[tuple[Frame, ...]]:
    """The main thread's stack, each time that it was told, outer frames first; ours are left out."""
    stack: list[Frame] = []
    for line in lines:
        if line.endswith(STACK):
            if stack:
                yield tuple(reversed(stack))
            stack = []
        elif found := _FRAME.match(line):
            module = _module(found[1])
            if module.partition(".")[0] != "reducer":
                stack.append(Frame(module, found[3], int(found[2])))
    if stack:
        yield tuple(reversed(stack))


@cache
def _module(path: str) -> str:
    """The importable name of a source file: what is left of its path after a folder of sys.path."""
    known = sorted((folder for folder in sys.path if folder), key=len, reverse=True)
    for folder in known:
        if path.startswith(folder.rstrip("/") + "/"):
            bare = path[len(folder.rstrip("/")) + 1 :].removesuffix(".py").removesuffix("/__init__")
            return bare.replace("/", ".")
    return path.rpartition("/")[2].removesuffix(".py")


def _captured(lines: list[str]) -> Capture | None:
    for line in reversed(lines):
        if line.startswith("{"):
            with suppress(BadInput):
                found = text.loads(line)
                return found if isinstance(found, Capture) else None
    return None
