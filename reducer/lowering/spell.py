"""Which operators does a generated source export to?"""

from __future__ import annotations

import linecache
import sys
import traceback

import torch

from reducer.core.wire import Spelled, SpellJob
from reducer.lowering.fx.targets import graph_targets
from reducer.lowering.user_modules import make_importable, run_source

_MODULE = "reducer_spelled"


def spell(job: SpellJob) -> Spelled:
    """Run the source, export its ``Repro``, list its operators in order.

    Operators of a subgraph follow those of the graph that uses it. Whatever the source or export
    raises is the answer's ``error``: type, message, and the line of the source.
    """
    filename = f"<{_MODULE}>"
    if job.data_dir:
        make_importable(job.data_dir)
    try:
        module = run_source(job.source, _MODULE)
        program = torch.export.export(
            module.__dict__["Repro"]().eval(),
            module.__dict__["example_inputs"],
            dynamic_shapes=module.__dict__.get("dynamic_shapes"),
            strict=False,
        )
    except Exception as error:
        return Spelled(error=_told(error, filename, job.source))
    finally:
        sys.modules.pop(_MODULE, None)
        linecache.cache.pop(filename, None)
    return Spelled(targets=tuple(graph_targets(program.graph_module)))


def _told(error: Exception, filename: str, source: str) -> str:
    lines = source.splitlines()
    numbers = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == filename
    ]
    where = f"\nin: {lines[numbers[-1] - 1].strip()}" if numbers and numbers[-1] else ""
    return f"{type(error).__name__}: {error}"[:2000] + where
