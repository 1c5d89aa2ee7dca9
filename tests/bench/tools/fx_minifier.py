"""torch's own minifier (``torch._functorch.fx_minifier``), called as its users do, on the exported program.

It is given the program's module with flat inputs; each module that it asks about becomes a case, which the
warm worker judges. Only the wanted signature counts as failing.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._functorch.fx_minifier import minifier
from torch.fx.graph import CodeGen

from reducer.core.case import Case
from reducer.core.verdict import Verdict
from reducer.lowering.data import DataStore
from reducer.lowering.errors import SubjectError
from reducer.lowering.fx.to_fx import example_inputs, export_case
from tests.bench.graph_module import Reading
from tests.bench.task import Task

Fails = Callable[[torch.fx.GraphModule, Sequence[Any]], bool]


def run(task: Task) -> Case:
    """Minify the module that holds its parameters."""
    reading, data = Reading(task), DataStore(task.data_dir)
    module = export_case(task.case, data).module(check_guards=False)
    module.graph.set_codegen(CodeGen())  # called with flat inputs
    module.recompile()
    small, inputs = minify(module, example_inputs(task.case, data), same(task, reading))
    return reading.case(small, inputs)


def same(task: Task, reading: Reading) -> Fails:
    """Whether a module fails with the wanted signature."""

    def fails(module: torch.fx.GraphModule, inputs: Sequence[Any]) -> bool:
        try:
            case = reading.case(module, inputs)
        except SubjectError:
            return False
        return task.oracle(case).verdict is Verdict.SAME

    return fails


def minify(module: torch.fx.GraphModule, inputs: Sequence[Any], fails: Fails) -> Any:
    """Silent, without files, and without recording what autograd would need."""
    with (
        open(os.devnull, "w") as nowhere,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
        torch.no_grad(),
    ):
        return minifier(module, list(inputs), fails, dump_state=lambda *_: None)
