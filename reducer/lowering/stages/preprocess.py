"""A backend compiles the delegate's program that it was handed."""

from reducer.core.stage import Stage

STAGE = Stage.PREPROCESS
FRAMES = frozenset(
    {
        ("executorch.exir.backend.backend_api", "lower_all_submodules_to_backend"),
        ("executorch.exir.backend.backend_details", "preprocess_multimethod"),
        ("executorch.exir.backend.backend_details", "preprocess"),
    }
)
