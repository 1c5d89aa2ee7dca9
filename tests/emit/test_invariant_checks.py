"""Do the checks that a script carries find what the worker finds?"""

from __future__ import annotations

import contextlib

import pytest

from reducer.core.diagnosis import INVARIANTS
from reducer.emit.invariant_checks import CHECKS


def test_there_is_a_check_for_each_invariant():
    assert tuple(CHECKS) == INVARIANTS


@pytest.mark.torch
@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("one-fake-mode", "OpensMode"),
        ("metadata", "StaleShape"),
        ("well-formed", "BreaksGraph"),
        ("same-numbers", "ChangesNumbers"),
        ("shared-state", "FlipsFlag"),
    ],
)
def test_a_check_names_the_planted_fault(name, fault, monkeypatch):
    import torch
    from executorch.exir import to_edge
    from executorch.exir.pass_base import ExportedProgramPassBase
    from executorch.exir.pass_manager import ExportedProgramPassManager
    from torch.fx.passes.infra.pass_base import PassBase

    from tests.lowering import planted_passes as planted

    class Small(torch.nn.Module):
        def forward(self, x, y):
            return torch.relu(x * 2 + y).sum(1)

    for cls in (PassBase, ExportedProgramPassBase, ExportedProgramPassManager):
        monkeypatch.setattr(cls, "__call__", cls.__call__)  # put back what the check replaces
    edge = to_edge(torch.export.export(Small(), (torch.randn(2, 3), torch.randn(2, 3))))
    names: dict = {}
    exec("\n".join(CHECKS[name].IMPORTS) + "\n\n\n" + CHECKS[name].SOURCE, names)
    broken = names["watch"]()
    edge.transform([planted.Harmless()])
    assert broken == []
    with contextlib.suppress(Exception):
        edge.transform([getattr(planted, fault)()])
    assert broken == [fault]
