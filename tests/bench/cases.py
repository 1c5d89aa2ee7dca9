"""How does `reduce` do on a folder of failing models? One row per case and backend.

    python -m tests.bench.cases FOLDER [--only NAME ...] [--plain] [-o OUTPUT]

A case says in its first lines which backends it fails on (``backend: vulkan, webgpu``). With
``--plain`` the time of one plain reproduction (a fresh process that exports and lowers, as a user
would) is measured beside each run, in turn with it.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

PLAIN = """
import runpy, sys, torch
names = runpy.run_path(sys.argv[1])
from executorch.exir import to_edge_transform_and_lower
partitioners = {{
    "vulkan": "executorch.backends.vulkan.partitioner.vulkan_partitioner:VulkanPartitioner",
    "webgpu": "executorch.backends.webgpu.partitioner:WebGPUPartitioner",
    "xnnpack": "executorch.backends.xnnpack.partition.xnnpack_partitioner:XnnpackPartitioner",
}}
made = []
if {backend!r} in partitioners:
    module, _, name = partitioners[{backend!r}].partition(":")
    made = [getattr(__import__(module, fromlist=[name]), name)()]
program = torch.export.export(
    names["model"], names["example_inputs"], dynamic_shapes=names.get("dynamic_shapes"))
to_edge_transform_and_lower(program, partitioner=made or None).to_executorch()
"""


def backends(path: Path) -> list[str]:
    """The backends that a case names; [""] for a script that lowers by itself."""
    text = path.read_text()
    found = re.search(r"backend:\s*([\w, ]+)", text)
    if "to_edge(" in text or "to_edge_transform" in text or not found:
        return [""]
    names = [name.strip() for name in found[1].partition("  ")[0].split(",")]
    return ["vulkan", "xnnpack", "portable"] if "any" in names[0] else names


def run(path: Path, backend: str, output: Path) -> dict[str, Any]:
    """One reduction in a process of its own; what it says as JSON."""
    command = [sys.executable, "-m", "reducer", str(path), "--json", "-o", str(output)]
    if backend:
        command += ["--backend", backend]
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        result = json.loads(done.stdout)
    except ValueError:
        result = {"status": "no JSON", "message": done.stderr[-300:]}
    return {**result, "exit_code": done.returncode, "wall": time.monotonic() - began}


def plain(path: Path, backend: str) -> float:
    """Wall seconds of one plain reproduction."""
    script = [str(path)] if not backend else ["-c", PLAIN.format(backend=backend), str(path)]
    began = time.monotonic()
    subprocess.run([sys.executable, *script], capture_output=True, check=False)
    return time.monotonic() - began


def main() -> None:
    """Run all, print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    output = arguments.output or Path(tempfile.mkdtemp(prefix="reduce-cases-"))
    print(f"{'case':<26}{'backend':<9}{'exit':>4} {'stage':<14}{'ops':>9}{'calls':>6}", end="")
    print(f"{'refused':>8}{'wall s':>8}{'plain s':>8}  result")
    for path in sorted([*arguments.folder.glob("*.py"), *arguments.folder.glob("*/*.py")]):
        if arguments.only and path.stem not in arguments.only:
            continue
        for backend in backends(path):
            result = run(path, backend, output / f"{path.stem}-{backend or 'script'}")
            seconds = f"{plain(path, backend):.1f}" if arguments.plain else "-"
            operators = result.get("operators") or {}
            refused = sum((result.get("refused") or {}).values())
            sizes = f"{operators.get('before', '')}->{operators.get('after', '')}"
            print(
                f"{path.stem:<26}{backend or 'script':<9}{result['exit_code']:>4} "
                f"{result.get('stage') or '-'!s:<14}{sizes:>9}{result.get('calls', ''):>6}"
                f"{refused:>8}{result['wall']:>8.1f}{seconds:>8}"
                f"  {result.get('status')}: {str(result.get('message') or '')[:110]}",
                flush=True,
            )


if __name__ == "__main__":
    main()
