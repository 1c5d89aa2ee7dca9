"""What does it cost to watch every compiler pass?

    python -m tests.bench.watching [--repeat N]

One row per model and backend: seconds of lowering unwatched, with the cheap invariants, with all; the
smallest of N runs each, in turn. The process is warm: torch, executorch and the backend's tables are loaded.
"""

from __future__ import annotations

import argparse
import time

import torch

from reducer.lowering import backends
from reducer.lowering.construct import build
from reducer.lowering.healthy_models import MODELS
from reducer.lowering.pipeline import LoweringPlan, StageClock, lower
from reducer.lowering.warm import warm_up
from reducer.lowering.watch.invariants import CHEAP, INVARIANTS
from reducer.lowering.watch.watch import Watch

PRELOAD = [
    "executorch.backends.vulkan.partitioner.vulkan_partitioner",
    "executorch.backends.xnnpack.partition.xnnpack_partitioner",
]
WAYS = (("off", None), ("cheap", CHEAP), ("all", INVARIANTS))


def seconds(name: str, backend: str, invariants) -> tuple[float, int]:
    """Seconds of one lowering, and how many pass runs were watched."""
    model, inputs, dynamic = MODELS[name]()
    program = torch.export.export(model, inputs, dynamic_shapes=dynamic)
    constructs = backends.lowering(backend).partitioners
    plan, clock = LoweringPlan([build(item) for item in constructs]), StageClock()
    began = time.perf_counter()
    if invariants is None:
        lower(program, plan, clock)
        return time.perf_counter() - began, 0
    with Watch(program, invariants, clock) as watch:
        lower(program, plan, clock)
    return time.perf_counter() - began, len(watch.runs)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    warm_up(PRELOAD, accelerate=True)
    print(f"{'model':<16}{'backend':<10}{'runs':>6}{'off':>9}{'cheap':>9}{'all':>9}")
    totals = {way: 0.0 for way, _ in WAYS}
    for name in MODELS:
        for backend in ("vulkan", "xnnpack"):
            best = {way: float("inf") for way, _ in WAYS}
            runs = 0
            seconds(name, backend, None)  # fills what the libraries remember
            for _ in range(repeat):
                for way, invariants in WAYS:
                    spent, seen = seconds(name, backend, invariants)
                    best[way], runs = min(best[way], spent), max(runs, seen)
            for way, least in best.items():
                totals[way] += least
            shown = "".join(f"{best[way]:8.2f}s" for way, _ in WAYS)
            print(f"{name:<16}{backend:<10}{runs:>6}{shown}", flush=True)
    shown = "".join(f"{totals[way] / totals['off']:8.2f}x" for way, _ in WAYS)
    print(f"{'sum, as a share':<32}{shown}")


if __name__ == "__main__":
    main()
