"""``to_edge``: decompositions, edge dialect, verifier."""

from reducer.core.stage import Stage

STAGE = Stage.TO_EDGE
FRAMES = frozenset(
    {
        ("executorch.exir.program._program", "to_edge"),
        ("executorch.exir.program._program", "to_edge_transform_and_lower"),
        ("executorch.exir.program._program", "_generate_edge_program"),
        ("executorch.exir.program._program", "_gen_edge_manager_for_partitioners"),
    }
)
