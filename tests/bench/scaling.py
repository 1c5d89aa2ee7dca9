"""How does `reduce` grow with a real transformer that contains the fault once? Vulkan, a row per depth.

    python -m tests.bench.scaling [--layers N ...] [-o OUTPUT]

The model is that of ``reducer/examples/position_table.py`` with more layers. A time limit of an hour is given, since
torch's partitioner takes time that grows faster than the model and, at 96 layers, looks as if it hung. Seconds are wall
time of the run and of its activities; ``worker`` is what the calls took in the worker. ``own`` is the time for which
this process, which runs all but torch, was computing.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from reducer.core.events import Event
from reducer.workflows.outcome import Outcome
from reducer.workflows.reduce import reduce_subject
from reducer.workflows.settings import ReduceSettings

EXAMPLE = Path(__file__).parents[2] / "reducer" / "examples" / "position_table.py"
ENCODER = "nn.TransformerEncoder(layer, 2,"
ACTIVITIES = ("capture", "search", "certify", "diagnose", "pass alone", "confirm")


def model_file(layers: int, folder: Path) -> Path:
    """The example with so many layers."""
    source = EXAMPLE.read_text()
    assert ENCODER in source
    path = folder / f"layers_{layers}.py"
    path.write_text(source.replace(ENCODER, f"nn.TransformerEncoder(layer, {layers},"))
    return path


def run(layers: int, folder: Path) -> tuple[Outcome, float, float]:
    """The outcome, wall seconds, and seconds for which this process computed."""
    settings = ReduceSettings(
        str(model_file(layers, folder)), "vulkan", output=folder / f"out-{layers}", timeout=3600.0
    )
    began, busy = time.monotonic(), time.process_time()
    outcome = reduce_subject(settings, _silent)
    return outcome, time.monotonic() - began, time.process_time() - busy


def _silent(_: Event) -> None:
    pass


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, nargs="*", default=[6, 24, 96])
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    folder = arguments.output or Path(tempfile.mkdtemp(prefix="reduce-scaling-"))
    folder.mkdir(parents=True, exist_ok=True)
    print(f"{'layers':>6}{'operators':>12}{'calls':>6}{'bound':>6}{'wall s':>8}", end="")
    print("".join(f"{name:>11}" for name in (*ACTIVITIES, "worker", "own")))
    for layers in arguments.layers:
        outcome, wall, own = run(layers, folder)
        finding = outcome.finding
        ledger, seconds = finding.ledger, outcome.seconds
        sizes = f"{finding.operators_before}->{finding.case.operators}"
        print(f"{layers:>6}{sizes:>12}{ledger.calls:>6}{ledger.bound:>6}{wall:>8.1f}", end="")
        spent = [seconds.get(name, 0.0) for name in ACTIVITIES]
        print("".join(f"{s:>11.2f}" for s in (*spent, ledger.sequential, own)), flush=True)


if __name__ == "__main__":
    main()
