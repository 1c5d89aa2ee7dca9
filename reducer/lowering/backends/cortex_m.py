"""Why is there no lowering for Cortex-M? Its passes are made from the edge program that they rewrite."""

from reducer.lowering.backends.backend import Backend

BACKEND = Backend(
    name="cortex_m",
    obstacle=lambda: (
        "it is no partitioner: CortexMPassManager(edge_program).transform() rewrites a quantised"
        " program between two steps, which a recipe cannot say"
    ),
)
