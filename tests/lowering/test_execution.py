"""Is a program that lowers also run, whatever it does to its own state?"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reducer.core.wire import Capture

pytestmark = pytest.mark.torch

HEAD = """
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(4))
        self.register_buffer("scale", torch.ones(4))
    def forward(self, x):
        {body}
model, example_inputs = Net(), (torch.ones(4),)
"""

#: (body of forward, why it is not run)
BODIES = [
    ("self.seen.add_(x); return self.seen * x", ""),
    ("x.add_(1); return x * 2", ""),
    ("x.add_(1); y = x * 2; self.seen.add_(y); return y, self.seen - x", ""),
    ("self.scale.add_(x); return self.scale * x", "keeps no initial numbers"),
    ("return x + torch.rand(4)", "other numbers each time"),
]


@pytest.mark.parametrize(("body", "unasked"), BODIES)
def test_run_and_compared(
    body: str, unasked: str, write: Callable[..., str], capture: Callable[..., Capture]
) -> None:
    found = capture(write(HEAD.format(body=body)), "portable")
    assert found.attempt.failure is None
    said = [note for note in found.notes if "was not checked" in note]
    assert len(said) == bool(unasked)
    assert unasked in "".join(said)
