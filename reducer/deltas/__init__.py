"""What makes a case smaller? One file per delta, in one ordered table of tiers.

A delta proposes edits and applies them; it knows no search and no oracle. To add one: write the
module (``NAME``, ``edits``, ``apply``) and put it into its tier below; the conformance tests pick it
up by themselves.
"""

from __future__ import annotations

from typing import cast

from reducer.core.delta import Delta
from reducer.deltas import (
    bypass_nodes,
    check_inputs,
    constant_values,
    control_flow,
    cut_nodes,
    drop_inputs,
    drop_outputs,
    dtypes,
    edge_operators,
    held_tensors,
    keyword_defaults,
    memory_formats,
    merge_inputs,
    output_structure,
    plainer_operators,
    ranks,
    recipe_defaults,
    scalars,
    shorten_lists,
    sizes,
    source_blocks,
    source_expressions,
    source_model,
    source_names,
    source_numbers,
    source_parameters,
    source_statements,
    source_strings,
    source_unused,
    static_sizes,
)

#: Fewer nodes, inputs and outputs. Tried edit by edit until none helps.
STRUCTURE = cast(
    "tuple[Delta, ...]",
    (drop_outputs, bypass_nodes, cut_nodes, merge_inputs, control_flow, drop_inputs),
)
#: Plainer ones. Tried all at once, then in halves.
ATTRIBUTES = cast(
    "tuple[Delta, ...]",
    (
        recipe_defaults,
        check_inputs,
        static_sizes,
        sizes,
        keyword_defaults,
        shorten_lists,
        ranks,
        dtypes,
        constant_values,
        memory_formats,
        held_tensors,
        edge_operators,
        plainer_operators,
        scalars,
        output_structure,
    ),
)
#: Of these, what nearly always goes: tried in one call before each alone.
USUAL = cast(
    "tuple[Delta, ...]",
    (recipe_defaults, static_sizes, sizes, keyword_defaults, shorten_lists, ranks, dtypes,
     constant_values, memory_formats, scalars, output_structure),
)  # fmt: skip
#: What is left of a source, where there is no graph yet. Tried edit by edit.
SOURCE = cast(
    "tuple[Delta, ...]",
    (
        source_unused,
        source_model,
        source_statements,
        source_blocks,
        source_parameters,
        source_names,
        source_expressions,
        source_numbers,
        source_strings,
    ),
)
DELTAS = (*STRUCTURE, *ATTRIBUTES, *SOURCE)


def find_delta(name: str) -> Delta:
    """The delta of that name. Raises KeyError."""
    return {delta.NAME: delta for delta in DELTAS}[name]
