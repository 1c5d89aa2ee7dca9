"""A lowering that is done before the first one that counts.

The first lowering in a process fills tables (decompositions, operator schemas, the edge dialect, a
backend's own) and imports what backends import late. A child forked before that pays for it every time.

Assumes: a lowering leaves nothing behind that changes another one, as any program assumes that lowers
twice. Gain: 1 s instead of 7 s for a convolution on XNNPACK.
"""

from __future__ import annotations

import sys
import traceback

import torch

from reducer.lowering.backends import NAMES, find
from reducer.lowering.pipeline import StageClock, lower, plan_from_recipe

NAME = "first-lowering"


def switch_on() -> str:
    """Lower a small model plainly, and with each backend that is loaded. Returns why not, or ""."""
    told = []
    done: set[tuple[str, ...]] = set()
    for name in NAMES:
        backend = find(name)
        loaded = all(module in sys.modules for module in backend.imports)
        if not (backend.imports and loaded) or backend.imports in done:
            continue
        done.add(backend.imports)  # backends that share their modules share what these remember
        try:
            lower(_program(), plan_from_recipe(backend.lowering()), StageClock())
        except Exception:  # then the jobs that use it will say so themselves
            traceback.print_exc()
            told.append(f"it raises with {name}")
    return "; ".join(told)


def _program() -> torch.export.ExportedProgram:
    layers = (torch.nn.Conv2d(1, 1, 1), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(4, 2))
    model = torch.nn.Sequential(*layers, torch.nn.Softmax(-1)).eval()
    return torch.export.export(model, (torch.zeros(1, 1, 2, 2),))
