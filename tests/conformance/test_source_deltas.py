"""Does every delta on a source keep its promises on every kind of statement and expression?"""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from reducer.core.case import Case, Graph
from reducer.core.delta import Delta
from reducer.core.order import sort_key
from reducer.core.python_source import normal
from reducer.core.recipe import Recipe
from reducer.core.stage import Stage
from reducer.deltas import DELTAS, SOURCE

CLASSES = """
import os, math
import torch
from torch import nn
class Inner(nn.Module):
    def __init__(self, width, bias=True):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(width, 8, bias=bias), nn.ReLU())
        self.scale = 0.25
    @torch.no_grad()
    def forward(self, x, y=None):
        '''Documented.'''
        z = x * self.scale
        return self.layers(z), y
class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner(16, bias=False)
    def forward(self, x, y):
        a, b = self.inner(x, y)
        return {"a": a, "b": [b, x[:, 1:]]}
model = Outer().eval()
example_inputs = (torch.randn(4, 16), torch.randn(2))
def export():
    return torch.export.export(model, example_inputs)
"""

STATEMENTS = """
def helper(n, m=3):
    total = 0
    for i in range(n):
        if i % 2 and not i == 7:
            total += i
        elif i > 100:
            continue
        else:
            total -= m
    while total > 1000:
        total //= 2
        break
    with open("a") as f, open("b"):
        pass
    try:
        return [k ** 2 for k in range(total) if k], lambda x: x + 1, f"{total!r}"
    except (ValueError, KeyError) as error:
        raise RuntimeError("no") from error
    finally:
        del total
def main():
    once = helper(5)
    print(*once, sep="")
async def other():
    await other()
def export():
    main()
"""

SOURCES = [normal(CLASSES), normal(STATEMENTS), "def export():\n    pass"]

each_source = pytest.mark.parametrize("source", SOURCES, ids=["classes", "statements", "nothing"])
each_delta = pytest.mark.parametrize("delta", SOURCE, ids=lambda delta: delta.NAME)


def case(source: str) -> Case:
    return Case(Graph((), (), ()), Recipe("none", last_stage=Stage.EXPORT), source=source)


@each_source
@each_delta
def test_each_edit_gives_python_or_nothing(delta: Delta, source: str) -> None:
    for edit in delta.edits(case(source)):
        assert (edit.delta, bool(edit.element), bool(edit.what)) == (delta.NAME, True, True)
        found = delta.apply(case(source), [edit])
        if found is not None:
            assert found.source != source, edit
            assert normal(found.source) == found.source, edit
            assert "def export()" in found.source


@each_source
def test_no_edits_change_nothing_and_edits_are_the_same_each_time(source: str) -> None:
    for delta in SOURCE:
        assert delta.apply(case(source), []) == case(source), delta.NAME
        edits = list(delta.edits(case(source)))
        assert edits == list(delta.edits(case(source)))
        assert len(set(edits)) == len(edits), delta.NAME


@each_delta
def test_it_has_work_to_do(delta: Delta) -> None:
    assert any(delta.edits(case(source)) for source in SOURCES)


def test_deltas_on_graphs_leave_a_source_alone() -> None:
    for delta in DELTAS:
        if delta not in SOURCE:
            assert not list(delta.edits(case(SOURCES[0]))), delta.NAME


@each_source
def test_an_edit_means_the_same_after_another_one(source: str) -> None:
    """Else what was tried would be tried again after each success."""
    statements = next(delta for delta in SOURCE if delta.NAME == "source-statements")
    before = {edit.payload for edit in statements.edits(case(source))}
    for edit in statements.edits(case(source)):
        found = statements.apply(case(source), [edit])
        if found is None:  # what it gave is read
            continue
        after = {item.payload for item in statements.edits(found)}
        gone = len(before) - len(after & before)
        assert gone <= sum(1 for _ in ast.walk(ast.parse(source))), edit
        assert edit.payload not in after or len(after) < len(before)


@each_source
def test_only_what_is_simpler_is_offered_at_last(source: str) -> None:
    smaller = [
        found
        for delta in SOURCE
        for edit in delta.edits(case(source))
        if (found := delta.apply(case(source), [edit])) is not None
        and sort_key(found) < sort_key(case(source))
    ]
    assert bool(smaller) is ("class" in source or "helper" in source)
    assert all(sort_key(found) != sort_key(replace(found, source=source)) for found in smaller)
