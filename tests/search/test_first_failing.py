"""Is the first that fails found, with few questions, whatever gives no answer?"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reducer.search.first_failing import first_failing


@given(st.integers(0, 30), st.integers(0, 30))
def test_a_monotone_row(count: int, first: int) -> None:
    found = first_failing(count, lambda place: place >= first)
    if first >= count:
        assert found.place is None
    else:
        assert (found.place, found.before) == (first, first - 1)
        assert len(found.answers) <= 2 + count.bit_length()


@given(st.lists(st.booleans(), max_size=12), st.integers(0, 12))
def test_what_gives_no_answer_is_left_between(silent: list[bool], first: int) -> None:
    answers = [None if quiet else place >= first for place, quiet in enumerate(silent)]
    found = first_failing(len(answers), answers.__getitem__)
    fails = [place for place, answer in enumerate(answers) if answer]
    passes = [place for place, answer in enumerate(answers) if answer is False]
    assert found.place == (fails[0] if fails else None)
    assert found.before == (passes[-1] if passes else -1)


@given(st.lists(st.sampled_from([True, False, None]), max_size=10))
def test_any_row_asked_one_after_the_other(answers: list[bool | None]) -> None:
    found = first_failing(len(answers), answers.__getitem__, monotone=False)
    fails = [place for place, answer in enumerate(answers) if answer]
    assert found.place == (fails[0] if fails else None)
    assert len(found.answers) == len(answers)
    if found.place is not None:
        assert found.before == max(
            (place for place in range(found.place) if answers[place] is False), default=-1
        )


def test_what_was_mended_is_found_all_the_same() -> None:
    found = first_failing(5, [False, True, True, False, False].__getitem__)
    assert (found.place, found.before) == (1, 0)
