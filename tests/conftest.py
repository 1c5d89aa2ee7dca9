"""What do all tests share? How hypothesis runs, and one warm worker for those that need torch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from reducer.oracle.worker import Worker

# The same examples on every machine, and no verdict that depends on how busy it is.
settings.register_profile(
    "project",
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=15,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("search", parent=settings.get_profile("project"), max_examples=200,
                          derandomize=False)  # fmt: skip
settings.load_profile("project")

#: No tests, and they import torch.
collect_ignore = [
    "bench/graph_module.py",
    "bench/tools/find_culprits.py",
    "bench/tools/fx_minifier.py",
    "bench/watching.py",
    "lowering/planted_passes.py",
    "workflows/planted_kinds.py",
]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files that need torch throughout are not even imported when torch is not wanted.

    Its import takes longer than most of the other tests together, and every later collection of
    garbage goes through all that it made.
    """
    if config.getoption("markexpr") != "not torch" or collection_path.suffix != ".py":
        return None
    return "\npytestmark = pytest.mark.torch\n" in collection_path.read_text() or None


@pytest.fixture(scope="session")
def warm_worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    """One worker for all tests of the session; starting it takes seconds."""
    log = tmp_path_factory.mktemp("worker") / "worker.log"
    preload = ["executorch.backends.vulkan.partitioner.vulkan_partitioner"]
    with Worker(log, preload=preload) as worker:
        yield worker
