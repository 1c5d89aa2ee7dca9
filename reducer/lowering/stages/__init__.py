"""Which stage did an exception come from? Read off the functions on its traceback.

One file per stage; each says in ``FRAMES`` which of ExecuTorch's functions belong to it, as
``module:function`` (a prefix of the module is enough).
"""

from __future__ import annotations

from collections.abc import Iterable

from reducer.core.stage import Stage
from reducer.lowering.stages import (
    execute,
    load_pte,
    partition,
    preprocess,
    to_edge,
    to_executorch,
)

STAGES = (to_edge, partition, preprocess, to_executorch, load_pte, execute)


def stage_of(frames: Iterable[tuple[str, str]], default: Stage) -> Stage:
    """The stage of the innermost frame that belongs to one. ``frames``: (module, function), outer first."""
    found = default
    for frame in frames:
        for stage in STAGES:
            if frame in stage.FRAMES and stage.STAGE.rank >= found.rank:
                found = stage.STAGE
    return found
