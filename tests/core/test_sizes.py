"""Are expressions in symbols read as sympy means them?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducer.core.sizes import evaluate_size, size_symbols


@pytest.mark.parametrize(
    ("size", "value"),
    [
        (7, 7),
        ("s0", 6),
        ("2*s0 + s1", 15),
        ("s0//4", 1),
        ("(s0 + 1)//s1", 2),
        ("Max(1, s0 - 9)", 1),
        ("Min(s0, s1)", 3),
        ("Mod(s0, 4)", 2),
        ("PythonMod(s0, 4)", 2),
        ("FloorDiv(s0, 4)", 1),
        ("CleanDiv(s0, 2)", 3),
        ("s0**2", 36),
        ("-s0 + 10", 4),
    ],
)
def test_it_evaluates_where_all_symbols_are_known(size: int | str, value: int) -> None:
    assert evaluate_size(size, {"s0": 6, "s1": 3}) == value


@pytest.mark.parametrize(
    "size", ["s2", "s0 + s2", "s0//0", "Unknown(s0)", "s0 +", "s0 if s0 else 1"]
)
def test_it_leaves_alone_what_it_cannot_evaluate(size: str) -> None:
    assert evaluate_size(size, {"s0": 6}) == size


@pytest.mark.parametrize(
    "size", ["__import__('os').getpid()", "s0.real", "[1][0]", "(lambda: 1)()"]
)
def test_it_executes_nothing(size: str) -> None:
    assert evaluate_size(size, {"s0": 6}) == size


@given(st.integers(-50, 50), st.integers(-50, 50), st.sampled_from("+-*"))
def test_it_agrees_with_python(left: int, right: int, sign: str) -> None:
    text = f"({left}) {sign} s0"
    assert evaluate_size(text, {"s0": right}) == eval(text, {"s0": right})


def test_symbols_are_names_but_not_those_of_functions() -> None:
    assert size_symbols("Max(1, FloorDiv(s0, 2)) + u1*floor(s0/2)") == {"s0", "u1"}
    assert size_symbols(3) == set()
