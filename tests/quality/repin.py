"""How many calls does each planted bug take now? ``python -m tests.quality.repin`` writes it down."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from tests.quality.planted import Reduced, reduce_planted
from tests.quality.scenarios import SCENARIOS

PINS = Path(__file__).with_name("pins.json")
#: Each scenario twice: the first failure names nothing, or the partition around the fault.
KEYS = [(name, named) for name in SCENARIOS for named in (False, True)]


def key(name: str, named: bool) -> str:
    return f"{name}, {'from its partition' if named else 'from all of it'}"


@cache
def reduced(name: str, named: bool, jobs: int = 1) -> Reduced:
    """The reduction of a scenario; done once per process."""
    scenario = SCENARIOS[name]
    partition = scenario.partition if named else ()
    return reduce_planted(scenario.case, scenario.failure, partition, jobs)


def calls(name: str, named: bool) -> int:
    return reduced(name, named).calls


def load_pins() -> dict[str, int]:
    """Pinned calls by key; empty where there are none yet."""
    return dict(json.loads(PINS.read_text())) if PINS.exists() else {}


def main() -> None:
    """Measure, show what changed, write."""
    old = load_pins()
    new = {key(*item): calls(*item) for item in KEYS}
    for name, number in new.items():
        before = old.get(name)
        print(f"{number:5}  {'' if before in (None, number) else f'was {before:4}':9}  {name}")
    print(f"{sum(new.values()):5}  {f'was {sum(old.values()):4}':9}  all")
    PINS.write_text(json.dumps(new, indent=2) + "\n")


if __name__ == "__main__":
    main()
