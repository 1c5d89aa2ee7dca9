"""``to_executorch``: out-variants, memory planning, emitting the flatbuffer."""

from reducer.core.stage import Stage

STAGE = Stage.TO_EXECUTORCH
FRAMES = frozenset({("executorch.exir.program._program", "to_executorch")})
