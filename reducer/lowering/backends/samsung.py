"""How is a program lowered to an Exynos NPU?"""

from reducer.core.recipe import Construct, Items
from reducer.lowering.backends.backend import Backend

_SAMSUNG = "executorch.backends.samsung"

BACKEND = Backend(
    name="samsung",
    partitioner=f"{_SAMSUNG}.partition.enn_partitioner:EnnPartitioner",
    arguments=(
        (
            "compile_specs",
            Items(
                "list",
                (
                    Construct(
                        f"{_SAMSUNG}.serialization.compile_options:gen_samsung_backend_compile_spec",
                        ("E9955",),
                    ),
                ),
            ),
        ),
    ),
    needs="Samsung's Exynos AI LiteCore SDK, and executorch built with it",
)
