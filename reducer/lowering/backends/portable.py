"""How is a program lowered without any delegate?"""

from reducer.lowering.backends.backend import Backend

BACKEND = Backend(name="portable", imports=("executorch.exir",))
