"""Is what a fix changes called by its name: fixed, hidden, newly broken?"""

from __future__ import annotations

import pytest

from reducer.corpus.compared import Change, Compared, Verdict, by_importance
from reducer.corpus.outcome import Outcome
from reducer.corpus.side import FAILS, PASSES, OneSide

MODES = ("one-fake-mode", "two modes", "ExportPass")
SHAPES = ("metadata", "another shape", "OtherPass")

BEFORE = OneSide(
    Outcome.FAILS, "", None, True, (MODES,), MODES[:2], (("ExportPass", False),), FAILS
)
LOWERS = OneSide(Outcome.FIXED, watched=True, test=PASSES)
MODEL = OneSide(Outcome.FIXED, watched=True, retraces=(("ExportPass", True),), pte=b"one")


def one(outcome: Outcome, detail: str = "") -> OneSide:
    return OneSide(outcome, detail)


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (BEFORE, LOWERS, Change.FIXED),
        (BEFORE, BEFORE, Change.FAILING),
        (BEFORE, one(Outcome.DIFFERENT, "KeyError"), Change.CHANGED),
        (BEFORE, one(Outcome.FLAKY), Change.CHANGED),
        (BEFORE, one(Outcome.CANNOT_RUN), Change.CHANGED),
        (one(Outcome.DIFFERENT, "KeyError"), one(Outcome.DIFFERENT, "KeyError"), Change.FAILING),
        (one(Outcome.DIFFERENT, "KeyError"), one(Outcome.DIFFERENT, "other"), Change.CHANGED),
        (one(Outcome.DIFFERENT, "KeyError"), LOWERS, Change.FIXED),
        (one(Outcome.FLAKY), LOWERS, Change.CHANGED),
        (LOWERS, LOWERS, Change.SAME),
        (LOWERS, BEFORE, Change.BROKEN),
        (LOWERS, one(Outcome.DIFFERENT), Change.BROKEN),
        (one(Outcome.CANNOT_RUN), LOWERS, Change.UNCLEAR),
        (one(Outcome.UNREADABLE), one(Outcome.UNREADABLE), Change.UNCLEAR),
    ],
)
def test_an_entry(before: OneSide, after: OneSide, change: Change) -> None:
    assert Compared("vulkan/x", before, after).change is change


def with_(side: OneSide, **changes: object) -> OneSide:
    return OneSide(**{**vars(side), **changes})  # type: ignore[arg-type]


def test_what_only_hides_the_symptom_is_no_fix() -> None:
    still = with_(LOWERS, broken=(MODES,))
    assert Compared("vulkan/x", BEFORE, still).change is Change.HIDDEN
    elsewhere = with_(LOWERS, broken=((*MODES[:2], "AnotherPass"),))
    assert Compared("vulkan/x", BEFORE, elsewhere).change is Change.HIDDEN
    test_fails = with_(LOWERS, test=FAILS)
    assert Compared("vulkan/x", BEFORE, test_fails).change is Change.HIDDEN
    another = Compared("vulkan/x", BEFORE, with_(LOWERS, broken=(SHAPES,)))
    assert another.change is Change.FIXED
    assert another.invariants[0] == "now: metadata: another shape after OtherPass"


@pytest.mark.parametrize(
    ("after", "change"),
    [
        (MODEL, Change.SAME),
        (with_(MODEL, pte=b"two"), Change.CHANGED),
        (with_(MODEL, broken=(SHAPES,)), Change.BROKEN),
        (with_(MODEL, retraces=(("ExportPass", False),)), Change.CHANGED),
        (one(Outcome.FAILS, "to_edge: no"), Change.BROKEN),
    ],
)
def test_a_model(after: OneSide, change: Change) -> None:
    assert Compared("vulkan/m", MODEL, after, model=True).change is change


def test_what_the_retraces_run_under_is_told() -> None:
    changed = Compared("vulkan/m", MODEL, with_(MODEL, retraces=(("ExportPass", False),)), True)
    assert changed.invariants == (
        "now: the retrace of ExportPass runs without the Python dispatcher",
        "no longer: the retrace of ExportPass runs under the Python dispatcher",
    )
    # An entry that failed did not come to the passes that run now.
    further = with_(LOWERS, retraces=(("ExportPass", False), ("ExportPass", True)))
    assert Compared("vulkan/x", with_(BEFORE, broken=()), further).invariants == ()


def test_a_test_that_fails_now_is_newly_broken() -> None:
    assert Compared("vulkan/x", LOWERS, with_(LOWERS, test=FAILS)).change is Change.BROKEN


def test_the_verdict() -> None:
    fixed, failing = Compared("v/a", BEFORE, LOWERS), Compared("v/b", BEFORE, BEFORE)
    same = Compared("v/m", MODEL, MODEL, model=True)
    differs = Compared("v/n", MODEL, with_(MODEL, pte=b"two"), model=True)
    broken = Compared("v/m", MODEL, one(Outcome.FAILS), model=True)
    hidden = Compared("v/c", BEFORE, with_(LOWERS, broken=(MODES,)))
    assert Verdict((fixed, failing, same, differs)).good
    assert not Verdict((failing, same)).good
    assert not Verdict((fixed, broken)).good
    assert not Verdict((fixed, hidden)).good
    assert Verdict((fixed, failing), ("v/a",)).good
    assert Verdict((fixed, failing), ("v/a", "v/b")).missed == ("v/b",)
    assert not Verdict((fixed, failing), ("v/a", "v/b")).good
    assert not Verdict(()).good
    assert [i.name for i in by_importance([same, failing, hidden, fixed])] == [
        "v/c", "v/a", "v/b", "v/m",
    ]  # fmt: skip
