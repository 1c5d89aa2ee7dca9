"""Does the text of each option mean what it says, or get one clear message?"""

from __future__ import annotations

from typing import Any

import pytest

from reducer.cli import values
from reducer.core.errors import BadInput
from reducer.core.recipe import Items
from reducer.core.signature import MatchRule


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("600", 600), ("90s", 90), ("10m", 600), ("10 min", 600), ("1h", 3600), ("1H30M", 5400),
     ("0.5", 0.5), ("1.5h", 5400)],
)  # fmt: skip
def test_seconds(text: str, seconds: float) -> None:
    assert values.seconds(text, "--budget") == seconds


@pytest.mark.parametrize("text", ["", "0", "-5", "ten", "10x", "m", "1e3", "nan", "inf", "5 s x"])
def test_no_length_of_time(text: str) -> None:
    with pytest.raises(BadInput, match="is no length of time") as refused:
        values.seconds(text, "--budget")
    assert "--budget" in refused.value.message
    assert "10m" in refused.value.hint


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["a=1"], {"a": 1}),
        (["a=true", "b=null", "c=1.5"], {"a": True, "b": None, "c": 1.5}),
        (["name=fast mode"], {"name": "fast mode"}),
        (["a==="], {"a": "=="}),
        (["a="], {"a": ""}),
        (['a="1"'], {"a": "1"}),
        (["a=[1, [2]]"], {"a": Items("list", (1, Items("list", (2,))))}),
        (['{"a": {"b": 1}}'], {"a": Items("dict", (("b", 1),))}),
        (["a=1", '{"a": 2}'], {"a": 2}),
    ],
)
def test_options(texts: list[str], expected: dict[str, Any]) -> None:
    found = dict(values.options(texts))
    assert found == expected
    assert [type(value) for value in found.values()] == [type(v) for v in expected.values()]


@pytest.mark.parametrize("text", ["a", "=1", "", " =1", '{"a": ', "{a: 1}", "{1}"])
def test_no_option(text: str) -> None:
    with pytest.raises(BadInput, match="--backend-option"):
        values.options([text])


def test_match_rules() -> None:
    assert values.match_rule(None, None) == MatchRule("exact")
    assert values.match_rule("type", None) == MatchRule("type")
    assert values.match_rule(None, "fake mode") == MatchRule(regex="fake mode")


@pytest.mark.parametrize(
    ("level", "regex", "message"),
    [("exactly", None, "--match 'exactly' is unknown"), (None, "(", "not a regular expression"),
     (None, "", "is empty"), ("type", "x", "exclude each other")],
)  # fmt: skip
def test_no_match_rule(level: str | None, regex: str | None, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        values.match_rule(level, regex)


def test_interpreter() -> None:
    assert values.interpreter("sh").endswith("/sh")
    with pytest.raises(BadInput, match="cannot be run"):
        values.interpreter("/no/such/python")
