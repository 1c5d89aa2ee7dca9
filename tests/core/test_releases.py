"""Do the extras install pairs of torch and ExecuTorch that fit each other?"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from reducer.core.releases import TORCH_FOR, mismatch, series

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
EXTRAS = {
    name: dict(item.split("==") for item in pins)
    for name, pins in PROJECT["optional-dependencies"].items()
    if name.startswith("executorch")
}


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_pins_a_pair_of_the_table(extra: str) -> None:
    pins = EXTRAS[extra]
    assert set(pins) == {"executorch", "torch"}
    assert TORCH_FOR[series(pins["executorch"])] == series(pins["torch"])
    assert mismatch(pins["executorch"], pins["torch"]) == ""


def test_an_extra_is_named_after_its_release_and_the_plain_one_is_the_newest() -> None:
    releases = {series(pins["executorch"]) for pins in EXTRAS.values()}
    assert len(releases) == len(EXTRAS)
    for extra, pins in EXTRAS.items():
        if extra != "executorch":
            assert extra == f"executorch-{series(pins['executorch']).replace('.', '-')}"
    newest = max(TORCH_FOR, key=lambda release: tuple(map(int, release.split("."))))
    assert series(EXTRAS["executorch"]["executorch"]) == newest


@pytest.mark.parametrize(("release", "torch"), TORCH_FOR.items())
def test_another_torch_is_a_mismatch_that_names_both(release: str, torch: str) -> None:
    assert mismatch(f"{release}.1", f"{torch}.0+cpu") == ""
    told = mismatch(f"{release}.1", "3.99.0")
    assert release in told
    assert "3.99.0" in told


def test_an_unknown_release_is_not_complained_about() -> None:
    assert mismatch("99.1.0", "2.13.0") == ""
