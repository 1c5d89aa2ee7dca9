"""The runtime reads the flatbuffer."""

from reducer.core.stage import Stage

STAGE = Stage.LOAD_PTE
FRAMES = frozenset({("executorch.runtime", "load_program")})
