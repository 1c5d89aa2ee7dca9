"""The runtime prepares a method, its delegates included, and executes it."""

from reducer.core.stage import Stage

STAGE = Stage.EXECUTE
FRAMES = frozenset({("executorch.runtime", "load_method"), ("executorch.runtime", "execute")})
