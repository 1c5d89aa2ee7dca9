"""The first culprit of litert-torch's ``find_culprits``, written again on the logged oracle.

The package itself pins another torch and judges by its own converter. What it does is kept, after
``litert_torch/debug/culprit.py``: the program's flat graph, parameters as inputs; a call and the item
taken of it made one; torch's minifier; each candidate made functional anew; and any exception at all
counts, whatever it says.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._functorch.aot_autograd import aot_export_module

from reducer.core.case import Case
from reducer.core.verdict import Verdict
from reducer.lowering.data import DataStore
from reducer.lowering.fx.to_fx import export_case
from tests.bench.graph_module import Reading
from tests.bench.task import Task
from tests.bench.tools.fx_minifier import minify

_TRIVIAL = {torch.ops.aten.view, torch.ops.aten.view.default}


def run(task: Task) -> Case:
    """The first culprit."""
    reading = Reading(task)
    program = export_case(task.case, DataStore(task.data_dir))
    inputs = program._graph_module_flat_inputs(*program.example_inputs)
    module = one_item_calls(program.graph_module)

    def fails(candidate: torch.fx.GraphModule, given: Sequence[Any]) -> bool:
        small, small_inputs = normalized(candidate, given)
        if all(
            n.op in ("placeholder", "output") or n.target in _TRIVIAL for n in small.graph.nodes
        ):
            return False
        return task.oracle(reading.case(small, small_inputs)).verdict is not Verdict.PASSES

    inputs = [value.detach() if isinstance(value, torch.Tensor) else value for value in inputs]
    small, small_inputs = normalized(*minify(module, inputs, fails))
    return reading.case(small, small_inputs)


def one_item_calls(module: torch.fx.GraphModule) -> torch.fx.GraphModule:
    """Each item of a list computed by a call of its own (``_normalize_getitem_nodes``)."""
    module = copy.deepcopy(module)
    graph = module.graph
    for node in graph.nodes:
        if node.target is operator.getitem and node.args[0].op == "call_function":
            source, key = node.args
            with graph.inserting_after(node):
                made = graph.call_function(_item, (source.target, key, source.args, source.kwargs))
            node.replace_all_uses_with(made)
    graph.eliminate_dead_code()
    module.graph = graph
    return module


def _item(target: Callable[..., Any], key: int, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    return target(*args, **kwargs)[key]


def normalized(
    module: torch.fx.GraphModule, inputs: Sequence[Any]
) -> tuple[torch.fx.GraphModule, list[Any]]:
    """Without unread inputs, with what nothing reads returned, functional (``_normalize_minified_fx_gm``)."""
    module, left = copy.deepcopy(module), []
    graph = module.graph
    for node, value in zip(graph.find_nodes(op="placeholder"), inputs, strict=True):
        if node.users:
            left.append(value)
        else:
            graph.erase_node(node)
    output = next(node for node in graph.nodes if node.op == "output")
    unread = [n for n in graph.nodes if n.op not in ("placeholder", "output") and not n.users]
    returned = torch.utils._pytree.tree_leaves(output.args[0])
    output.update_arg(0, (*unread, *returned))
    module.graph = graph
    functional, _ = aot_export_module(module, left, trace_joint=False)
    return functional, left
