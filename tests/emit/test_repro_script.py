"""Is the script complete, private-path free, and does its check agree with the signature?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from emit_cases import call, case

from reducer.core.errors import BadInput
from reducer.core.finding import Finding
from reducer.core.recipe import Construct, Items, Recipe
from reducer.core.signature import ChainLink, Failure, Frame, MatchRule, signature_of
from reducer.core.stage import Stage
from reducer.core.wire import Environment
from reducer.emit.record import read_finding, write_finding
from reducer.emit.repro_script import render

CHAIN = (
    ChainLink("RuntimeError", "An error occurred when running the 'Fuse' pass in /home/ann/m.py"),
    ChainLink("ValueError", "bad size 3 of aten_add_tensor_1", (Frame("torch.fake", "check"),)),
)

# A stand-in for torch and executorch: lower() raises what FAKE says.
STUB = """
import sys, types
torch = types.ModuleType("torch")
torch.nn = types.SimpleNamespace(Module=type("Module", (), {"eval": lambda self: self}))
torch.zeros = lambda *size: size
torch.export = types.SimpleNamespace(export=lambda *a, **k: None)
sys.modules["torch"] = torch
for name in ("executorch", "executorch.exir", "executorch.p"):
    sys.modules[name] = types.ModuleType(name)
fake = types.ModuleType("torch.fake")
for name in ("check", "other"):
    exec(f"def {name}(message): raise ValueError(message)", fake.__dict__)
def fail(*args, **options):
    FAKE
sys.modules["executorch.exir"].to_edge_transform_and_lower = fail
sys.modules["executorch.p"].P = lambda *a: None
"""
RIGHT = """
    try: fake.check("bad size 77 of aten_add_tensor_9")
    except ValueError as e:
        raise RuntimeError("An error occurred when running the 'Fuse' pass") from e
"""


EXACT = MatchRule()


def finding(rule: MatchRule = EXACT) -> Finding:
    option = Items("dict", (("small", True),))
    recipe = Recipe("p", (Construct("executorch.p:P", (option,)),), last_stage=Stage.PREPROCESS)
    made = case((), "%x")
    made = type(made)(made.graph, recipe)
    failure = Failure(Stage.PREPROCESS, CHAIN)
    environment = Environment("3.11", "2.13.0", "1.5.1")
    return Finding("m.py", made, signature_of(failure), failure, rule, environment, "confirmed", 9)


def outcome(tmp_path: Path, script: str, fake: str, *options: str) -> int:
    path = tmp_path / "repro.py"
    path.write_text(script)
    body = STUB.replace("    FAKE", fake.strip("\n"))
    runner = f"{body}\nimport runpy\nsys.argv = ['repro.py', *{list(options)!r}]\n"
    runner += f"runpy.run_path({str(path)!r}, run_name='__main__')\n"
    return subprocess.run(
        [sys.executable, "-c", runner], capture_output=True, check=False
    ).returncode


@pytest.mark.parametrize(
    ("fake", "exact", "site", "kind"),
    [
        (RIGHT, 0, 0, 0),
        (RIGHT.replace("bad size", "worse size"), 2, 0, 0),
        (RIGHT.replace("fake.check", "fake.other"), 2, 2, 0),
        (RIGHT.replace("'Fuse'", "'Other'"), 2, 0, 0),
        ("    raise KeyError(1)", 2, 2, 2),
        ("    return None", 1, 1, 1),
    ],
)
def test_exit_codes(tmp_path: Path, fake: str, exact: int, site: int, kind: int) -> None:
    for level, code in (("exact", exact), ("raise-site", site), ("type", kind)):
        assert (
            outcome(tmp_path, render(finding(MatchRule(level))), fake, "--expect-failure") == code
        )


def test_a_broken_environment_is_not_a_pass(tmp_path: Path) -> None:
    script = render(finding()).replace("executorch.p ", "executorch.missing ")
    assert outcome(tmp_path, script, RIGHT, "--expect-failure") == 2


def test_run_as_it_stands_it_fails(tmp_path: Path) -> None:
    assert outcome(tmp_path, render(finding()), RIGHT) == 1


def test_regex(tmp_path: Path) -> None:
    script = render(finding(MatchRule(regex="size [0-9]+ of")))
    assert outcome(tmp_path, script, RIGHT, "--expect-failure") == 0
    assert outcome(tmp_path, script, "    raise ValueError('x')", "--expect-failure") == 2


def test_what_it_says() -> None:
    text = render(finding())
    assert text.startswith(
        "# Lowering for p fails in preprocess.\n# Observed: RuntimeError: An error"
    )
    assert "# Cause: ValueError: bad size 3" in text
    assert "torch 2.13.0, executorch 1.5.1" in text
    assert "/home/ann" not in text
    assert 'partitioner=[P({"small": True})]' in text
    assert "import reducer" not in text
    assert "to_executorch" not in text


def test_two_steps() -> None:
    found = finding()
    recipe = Recipe("p", (Construct("a.b:P"), Construct("c.d:P")), two_steps=True)
    text = render(
        type(found)(**{**found.__dict__, "case": type(found.case)(found.case.graph, recipe)})
    )
    assert "edge = edge.to_backend(P())\n    edge = edge.to_backend(c.d.P())\n" in text
    assert "return edge.to_executorch()" in text
    compile(text, "repro.py", "exec")


def test_record_round_trip(tmp_path: Path) -> None:
    made = case((call("a", "aten.relu.default", "%x"),), "%a")
    found = type(finding())(**{**finding().__dict__, "case": made})
    path = write_finding(found, tmp_path / "new")
    assert read_finding(path) == read_finding(path.parent) == found
    assert list(path.parent.iterdir()) == [path], "no scratch file is left"
    path.write_text("{}")
    with pytest.raises(BadInput):
        read_finding(path)
