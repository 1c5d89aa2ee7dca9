"""torch's table of composite operators, collected once per process instead of for every export.

Assumes: no operator library is loaded between two lowerings of one job. A child is forked per job,
and the memo is dropped when the number of registered operators changes. Gain: about 1 s per call.
"""

from __future__ import annotations

import inspect
import sys
from typing import Any

import torch

NAME = "composite-operator-table"


def switch_on() -> str:
    """Memoise ``torch.export.exported_program._collect_all_valid_cia_ops``. Returns why not, or ""."""
    from torch._export import utils

    original: Any = getattr(utils, "_collect_all_valid_cia_ops", None)
    if original is None or inspect.signature(original).parameters:
        return "torch collects the table in another way"
    memo: dict[int, Any] = {}

    def remembered() -> Any:
        registered = len(torch._C._dispatch_get_all_op_names())
        if registered not in memo:
            memo.clear()
            memo[registered] = original()
        return set(memo[registered])

    _replace_everywhere(original, remembered)
    return ""


def _replace_everywhere(original: Any, replacement: Any) -> None:
    """Rebind the function in all loaded modules that imported it by name."""
    name = str(original.__name__)
    for module in list(sys.modules.values()):
        if getattr(module, name, None) is original:
            setattr(module, name, replacement)
