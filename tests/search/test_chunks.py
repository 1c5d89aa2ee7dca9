"""Do shrinking chunks leave only items that cannot go alone?"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hypothesis import given
from hypothesis import strategies as st

from reducer.search.chunks import chunk_sizes, remove_chunks

COUNTS = st.integers(1, 120)


class Removing:
    """A set from which a chunk goes if what is left still ``fails``."""

    def __init__(self, count: int, fails: Callable[[frozenset[int]], bool]) -> None:
        self.left, self.fails = frozenset(range(count)), fails
        self.asked: list[tuple[frozenset[int], tuple[int, ...]]] = []

    def __call__(self, chunk: Sequence[int]) -> bool:
        self.asked.append((self.left, tuple(chunk)))
        smaller = self.left - set(chunk)
        if not self.fails(smaller):
            return False
        self.left = smaller
        return True


@given(COUNTS)
def test_sizes_shrink_strictly_to_one(count: int) -> None:
    sizes = list(chunk_sizes(count))
    assert sizes == sorted(set(sizes), reverse=True)
    assert sizes[-1] == 1
    assert sizes[0] <= count


@given(COUNTS, st.data())
def test_of_a_monotone_predicate_exactly_the_needed_items_are_left(
    count: int, data: st.DataObject
) -> None:
    needed = data.draw(st.sets(st.integers(0, count - 1), max_size=10))
    removing = Removing(count, lambda left: needed <= left)
    assert remove_chunks(range(count), removing) == sorted(needed)
    assert removing.left == needed


@given(st.integers(1, 40), st.randoms(use_true_random=False))
def test_what_is_left_fails_and_is_what_was_not_removed(count: int, random: object) -> None:
    known: dict[frozenset[int], bool] = {frozenset(range(count)): True}
    fails = lambda left: known.setdefault(left, random.random() < 0.5)  # type: ignore[attr-defined]  # noqa: E731
    removing = Removing(count, fails)
    left = remove_chunks(range(count), removing)
    assert left == sorted(removing.left)
    assert known[removing.left]


@given(st.integers(1, 40), st.randoms(use_true_random=False))
def test_no_chunk_comes_twice_in_a_round_and_the_last_round_tries_each_item_alone(
    count: int, random: object
) -> None:
    known: dict[frozenset[int], bool] = {}
    fails = lambda left: known.setdefault(left, random.random() < 0.5)  # type: ignore[attr-defined]  # noqa: E731
    removing = Removing(count, fails)
    left = remove_chunks(range(count), removing)
    rounds: list[list[tuple[int, ...]]] = [[]]
    for _, chunk in removing.asked:
        if rounds[-1] and chunk[-1] >= rounds[-1][-1][0]:  # it begins at the end again
            rounds.append([])
        rounds[-1].append(chunk)
    for chunks in rounds:
        flat = [item for chunk in chunks for item in chunk]
        assert len(flat) == len(set(flat))
    if left:
        assert {len(chunk) for chunk in rounds[-1]} == {1}
        assert set(left) <= {chunk[0] for chunk in rounds[-1]}


def test_chunks_are_neighbours_and_begin_at_the_end() -> None:
    removing = Removing(100, lambda left: len(left) == 100)
    assert remove_chunks(range(100), removing) == list(range(100))
    assert removing.asked[0][1] == tuple(range(91, 100))
    assert all(list(chunk) == list(range(chunk[0], chunk[-1] + 1)) for _, chunk in removing.asked)


def test_nothing_is_asked_about_nothing() -> None:
    assert remove_chunks([], lambda chunk: 1 / 0) == []  # type: ignore[arg-type, return-value]
