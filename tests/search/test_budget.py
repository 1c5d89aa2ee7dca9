"""Does a search stop before the call that it may not make? By a clock of the test's own."""

from __future__ import annotations

import pytest

from reducer.search.budget import Budget, BudgetSpent


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_without_limits_it_never_stops() -> None:
    clock = Clock()
    budget = Budget(clock)
    for _ in range(1000):
        clock.now += 1e6
        budget.check()
        budget.pay()
    assert budget.paid == 1000
    assert budget.elapsed == 1e9


@pytest.mark.parametrize("calls", [0, 1, 7])
def test_exactly_so_many_calls_are_allowed(calls: int) -> None:
    budget = Budget(Clock(), calls=calls)
    for _ in range(calls):
        budget.check()
        budget.pay()
    for _ in range(2):  # it says so each time
        with pytest.raises(BudgetSpent, match=f"--max-calls {calls} reached"):
            budget.check()


def test_checking_costs_nothing() -> None:
    budget = Budget(Clock(), calls=1)
    for _ in range(5):
        budget.check()
    assert budget.paid == 0


def test_time_counts_from_when_it_was_made() -> None:
    clock = Clock()
    budget = Budget(clock, seconds=90.0)
    clock.now += 89.9
    budget.check()
    clock.now += 0.1
    with pytest.raises(BudgetSpent, match="--budget of 90 s spent") as spent:
        budget.check()
    assert spent.value.reason == "--budget of 90 s spent"
