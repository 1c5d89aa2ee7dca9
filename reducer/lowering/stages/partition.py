"""Partitioning: the partitioner tags nodes, ExecuTorch cuts them out as submodules."""

from reducer.core.stage import Stage

STAGE = Stage.PARTITION
FRAMES = frozenset(
    {
        ("executorch.exir.program._program", "to_backend"),
        ("executorch.exir.backend.backend_api", "_"),
        ("executorch.exir.backend.backend_api", "to_backend"),
        ("executorch.exir.backend.backend_api", "_create_partitions"),
    }
)
