"""What is done once, before the first job, so that no job pays for it?"""

from __future__ import annotations

import importlib
import os
import platform
import sys
import warnings
from collections.abc import Collection
from importlib import metadata

from reducer.core.wire import Environment

#: What a job needs that takes no longer than its import.
_OURS = ("reducer.lowering.judge", "reducer.lowering.pass_alone.run")


def warm_up(preload: list[str], *, accelerate: bool, without: Collection[str] = ()) -> Environment:
    """Import torch, executorch and ``preload``; switch accelerations on; say what this runs on.

    Accelerations named in ``without`` stay off. A module of ``preload`` that is missing is left for the job
    that needs it to complain about.
    """
    warnings.simplefilter("ignore")
    import torch

    torch.set_num_threads(1)  # a forked child cannot use its parent's threads
    versions = {"torch": torch.__version__, "executorch": _version("executorch")}
    importlib.import_module("executorch.exir")
    for module in preload:
        try:
            importlib.import_module(module)
        except ImportError:
            print(f"preload: {module} cannot be imported", file=sys.stderr)
    for module in _OURS:
        importlib.import_module(module)
    from reducer.lowering import accelerations

    switched = accelerations.switch_on(without) if accelerate else ()
    return Environment(
        python=platform.python_version(),
        platform=f"{sys.platform}-{os.uname().machine}",
        accelerations=switched,
        **versions,
    )


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""
