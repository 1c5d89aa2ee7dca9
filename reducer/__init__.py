"""From a model that ExecuTorch cannot lower to the smallest script that shows why.

``reducer.reduce(model, example_inputs, backend="vulkan")`` does what the command ``reduce`` does.
Importing this package imports neither torch nor executorch.
"""

from reducer.api import Reduced, reduce
from reducer.core.errors import (
    BadInput,
    ExitCode,
    NoEnvironment,
    NoFailure,
    NotHandled,
    NotReproducible,
    ReducerError,
)

__all__ = [
    "BadInput",
    "ExitCode",
    "NoEnvironment",
    "NoFailure",
    "NotHandled",
    "NotReproducible",
    "Reduced",
    "ReducerError",
    "__version__",
    "reduce",
]

__version__ = "0.1.0"
