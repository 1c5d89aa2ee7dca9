"""Do the tools' algorithms do what their papers say? On bugs planted in sequences, without torch."""

from __future__ import annotations

import pytest

from tests.bench import planted_sequences as planted
from tests.bench.tools import TOOLS, load
from tests.bench.tools.two_bisections import bisect_twice

#: Searches that end 1-minimal where the predicate is monotone; what the extra `bench` brings is not needed.
MINIMAL = ("ours", "Lithium", "ddmin", "ProbDD", "CDD")
BUGS = [(n, name) for n in (1, 8, 31, 128) for name in planted.bugs(n) if n >= 31 or name == "1"]


@pytest.mark.parametrize(("n", "name"), BUGS)
@pytest.mark.parametrize("tool", MINIMAL)
def test_exactly_the_needed_items_are_left(tool: str, n: int, name: str) -> None:
    needed = planted.bugs(n)[name]
    fails = planted.Planted(frozenset(needed), most=5000)
    assert list(load(tool).minimize(range(n), fails)) == list(needed)


@pytest.mark.parametrize("tool", [*MINIMAL, "two bisections"])
def test_what_is_left_fails_where_the_predicate_is_not_monotone(tool: str) -> None:
    def fails(kept: list[int]) -> bool:
        return {3, 17} <= set(kept) and len(kept) not in (4, 5, 9)

    left = load(tool).minimize(range(24), fails)
    assert fails(left)


@pytest.mark.parametrize("tool", MINIMAL)
def test_all_items_may_be_needed(tool: str) -> None:
    assert list(load(tool).minimize(range(9), lambda kept: len(kept) == 9)) == list(range(9))


@pytest.mark.parametrize("tool", ["Picire", "Picire skip"])
def test_picire_as_a_library(tool: str) -> None:
    pytest.importorskip("picire")
    needed = planted.bugs(31)["3 spread"]
    fails = planted.Planted(frozenset(needed), most=5000)
    assert list(load(tool).minimize(range(31), fails)) == list(needed)


def test_two_bisections_leave_the_range_from_first_to_last() -> None:
    fails = planted.Planted(frozenset({7, 12}), most=100)
    assert list(load("two bisections").minimize(range(20), fails)) == list(range(7, 13))
    assert fails.calls <= 10  # 2 * log2(20), rounded up


def test_two_bisections_leave_out_what_the_output_does_not_need() -> None:
    def even(place: int) -> list[int]:
        return [item for item in range(place + 1) if (place - item) % 2 == 0]

    left = bisect_twice(range(20), lambda kept: {6, 14} <= set(kept), even)
    assert left == [6, 8, 10, 12, 14]


def test_ddmin_goes_as_in_the_paper() -> None:
    """The example of Zeller and Hildebrandt, figure 5: of eight changes 1, 7 and 8 are needed."""
    asked: list[list[int]] = []

    def fails(kept: list[int]) -> bool:
        asked.append(list(kept))
        return {1, 7, 8} <= set(kept)

    assert load("ddmin").minimize(range(1, 9), fails) == [1, 7, 8]
    assert asked[:6] == [[1, 2, 3, 4], [5, 6, 7, 8], [1, 2], [3, 4], [5, 6], [7, 8]]
    assert asked[6:8] == [[3, 4, 5, 6, 7, 8], [1, 2, 5, 6, 7, 8]]


def test_lithium_starts_with_half_from_the_end() -> None:
    asked: list[list[int]] = []

    def fails(kept: list[int]) -> bool:
        asked.append(list(kept))
        return 2 in kept

    assert load("Lithium").minimize(range(8), fails) == [2]
    assert asked[:2] == [[0, 1, 2, 3], []]


def test_the_bound_is_never_beaten_where_nothing_is_known() -> None:
    """Averaged over all places of one needed item: no search knows where it is."""
    for tool in MINIMAL:
        calls = [planted.score(load(tool).minimize, 16, [place], 5000).calls for place in range(16)]
        assert sum(calls) / 16 >= 4, tool


def test_a_search_that_loses_an_item_is_found_out() -> None:
    with pytest.raises(ValueError, match="are needed"):
        planted.score(lambda items, fails: items[:1], 8, [3], 10)


def test_a_search_that_asks_too_often_is_marked() -> None:
    lines = list(planted.table({"ddmin": load("ddmin").minimize}, [31], most=5))
    assert [line.split()[-1] for line in lines[1:]] == [">5"] * 4


def test_every_tool_has_a_file() -> None:
    from pathlib import Path

    folder = Path(__file__).parent / "tools"
    assert {path.stem for path in folder.glob("*.py")} - {"__init__"} == set(TOOLS.values())
