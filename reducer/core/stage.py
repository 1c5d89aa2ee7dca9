"""Which step of lowering are we talking about?

The order is the order in which ExecuTorch runs them; a later stage is reached only after all
earlier ones passed.
"""

from __future__ import annotations

from enum import Enum


class Stage(str, Enum):
    """One step on the way from a Python file to a checked ``.pte``."""

    LOAD = "load"
    EAGER = "eager"
    QUANTIZE = "quantize"
    EXPORT = "export"
    TO_EDGE = "to_edge"
    PARTITION = "partition"
    PREPROCESS = "preprocess"
    TO_EXECUTORCH = "to_executorch"
    LOAD_PTE = "load_pte"
    EXECUTE = "execute"
    COMPARE = "compare"

    def __str__(self) -> str:
        return self.value

    @property
    def rank(self) -> int:
        """Position in the order in which stages run, from 0."""
        return _ORDER[self]


_ORDER = {stage: rank for rank, stage in enumerate(Stage)}

#: Stages whose failures this version reduces: whatever goes wrong once there is a graph.
REDUCIBLE = (
    Stage.TO_EDGE,
    Stage.PARTITION,
    Stage.PREPROCESS,
    Stage.TO_EXECUTORCH,
    Stage.LOAD_PTE,
    Stage.EXECUTE,
    Stage.COMPARE,
)
