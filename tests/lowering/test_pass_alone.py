"""Does a pass that runs alone, on a graph made by hand, break what it breaks in the compiler?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("executorch.exir")

from reducer.core.case import Symbol  # noqa: E402
from reducer.core.finding import Finding, PassLevel  # noqa: E402
from reducer.core.recipe import THE_PROGRAM, Construct, PassCall, Recipe  # noqa: E402
from reducer.core.signature import MatchRule, signature_of  # noqa: E402
from reducer.core.stage import Stage  # noqa: E402
from reducer.core.wire import Environment, ExplainJob, JudgeJob, PassGraphJob  # noqa: E402
from reducer.emit.pass_script import render_pass, write_pass  # noqa: E402
from reducer.emit.regression_test import render_test  # noqa: E402
from reducer.emit.tensor_file import tensor_file  # noqa: E402
from reducer.lowering.data import DataStore  # noqa: E402
from reducer.lowering.fx.from_fx import case_from_program  # noqa: E402
from reducer.lowering.pass_alone.build import by_hand  # noqa: E402
from reducer.lowering.pass_alone.hand_over import pass_graph  # noqa: E402
from reducer.lowering.pass_alone.read import case_from_view  # noqa: E402
from reducer.lowering.pass_alone.run import run_alone  # noqa: E402
from reducer.lowering.pipeline import StageClock  # noqa: E402
from reducer.lowering.watch.explain import explain  # noqa: E402
from reducer.lowering.watch.view import View  # noqa: E402

pytestmark = pytest.mark.torch

PLANTED = "tests.lowering.planted_passes"


class Small(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(3))

    def forward(self, x, y):
        return torch.relu(x * self.scale + y).sum(1) + torch.arange(2)


def planted(name: str, *, call: bool = True, takes: str = "graph", args=()) -> Recipe:
    construct = Construct(f"{PLANTED}:{name}", args, call=call)
    return Recipe("portable", last_stage=Stage.TO_EDGE, alone=PassCall(construct, takes))


def small_case(recipe: Recipe, folder: Path):
    inputs = (torch.randn(2, 3), torch.randn(2, 3))
    program = torch.export.export(Small(), inputs)
    view = View(program.graph_module, program, whole=True)
    return case_from_view(view, recipe, DataStore(folder))


def attempt_of(case, folder: Path, oracle: str = ""):
    return run_alone(JudgeJob(case, str(folder), oracle), StageClock())


def finding_of(case, attempt, oracle: str) -> Finding:
    assert attempt.failure is not None
    return Finding(
        "subject.py", case, signature_of(attempt.failure), attempt.failure, MatchRule(),
        Environment(torch="2", executorch="1"), "confirmed", 1, oracle=oracle,
        pass_level=PassLevel(case, attempt.failure, oracle, "confirmed"),
    )  # fmt: skip


FAULTS = [
    (planted("OpensMode"), "one-fake-mode"),
    (planted("OpensModeInList"), "one-fake-mode"),
    (planted("StaleShape"), "metadata"),
    (planted("FlipsFlag"), "shared-state"),
    (planted("ChangesNumbers"), "same-numbers"),
    (planted("changes_numbers", call=False), "same-numbers"),
    (planted("BreaksGraph"), "well-formed"),
    (planted("StalesProgram", takes="program"), "metadata"),
    (planted("StalesOwnProgram", args=(THE_PROGRAM,)), "metadata"),
]


@pytest.mark.parametrize(
    ("recipe", "oracle"), FAULTS, ids=[recipe.alone.name for recipe, _ in FAULTS]
)
def test_a_planted_fault_shows_in_the_worker_and_in_the_script(recipe, oracle, tmp_path):
    case = small_case(recipe, tmp_path)
    attempt = attempt_of(case, tmp_path, oracle)
    assert attempt.failure is not None
    assert attempt.failure.chain[-1].type == oracle
    assert attempt.failure.passes == (recipe.alone.name,)
    names = {"__name__": "script"}
    exec(render_pass(finding_of(case, attempt, oracle)), names)
    before, after = names["run_pass"]()
    assert names["is_broken"](before, after)


@pytest.mark.parametrize("oracle", sorted({oracle for _, oracle in FAULTS}))
def test_a_harmless_pass_breaks_nothing(oracle, tmp_path):
    case = small_case(planted("Harmless"), tmp_path)
    attempt = attempt_of(case, tmp_path, oracle)
    assert attempt.failure is None
    assert attempt.invalid == ""


def test_a_pass_that_raises_fails_with_what_it_raises(tmp_path):
    case = small_case(planted("Raises"), tmp_path)
    attempt = attempt_of(case, tmp_path)
    assert attempt.failure.cause == "RuntimeError: on purpose"
    names = {"__name__": "script"}
    exec(render_pass(finding_of(case, attempt, "")), names)
    with pytest.raises(RuntimeError, match="on purpose") as raised:
        names["run_pass"]()
    assert names["is_recorded"](raised.value)


def test_the_graph_by_hand_is_the_one_that_was_read(tmp_path):
    case = small_case(planted("Harmless"), tmp_path)
    made = by_hand(case, DataStore(tmp_path))
    again = case_from_view(
        View(made.module, made.program(), whole=True), case.recipe, DataStore(tmp_path)
    )
    assert again.graph.nodes == tuple(
        # where a module made a call, nothing is left of by hand
        replace(node, module="")
        for node in case.graph.nodes
    )
    assert [item.role for item in again.graph.inputs] == [item.role for item in case.graph.inputs]
    assert {value.fake_mode for value in _values(made.module)} == {
        _values(made.module)[0].fake_mode
    }


def _values(module):
    return [node.meta["val"] for node in module.graph.nodes if node.op == "placeholder"]


def dynamic_case(recipe: Recipe, folder: Path):
    class Rows(torch.nn.Module):
        def forward(self, x):
            return x * 2 + torch.arange(3)

    rows = {0: torch.export.Dim("rows", max=64)}
    program = torch.export.export(Rows(), (torch.randn(4, 3),), dynamic_shapes=(rows,))
    return case_from_view(View(program.graph_module, program), recipe, DataStore(folder))


def test_sizes_that_are_not_fixed_stay_so(tmp_path):
    case = dynamic_case(planted("StaleShape"), tmp_path)
    assert [symbol.hint for symbol in case.symbols] == [4]
    attempt = attempt_of(case, tmp_path, "metadata")
    assert attempt.failure.chain[-1].message == 'meta["val"] has another shape'
    names = {"__name__": "script"}
    exec(render_pass(finding_of(case, attempt, "metadata")), names)
    (x,) = names["build"]().graph.find_nodes(op="placeholder")[:1]
    assert isinstance(x.meta["val"].shape[0], torch.SymInt)
    before, after = names["run_pass"]()
    assert names["is_broken"](before, after)


def test_a_size_that_has_become_a_number_is_one_in_the_graph_by_hand_as_well(tmp_path):
    case = dynamic_case(planted("Raises"), tmp_path)
    (symbol,) = case.symbols
    fixed = replace(case, symbols=(Symbol(symbol.name, 4, fixed=True),))
    made = by_hand(fixed, DataStore(tmp_path))
    names = {"__name__": "script"}
    exec(render_pass(finding_of(fixed, attempt_of(fixed, tmp_path), "")), names)
    for module in (made.module, names["build"]()):
        size = module.graph.find_nodes(op="placeholder")[0].meta["val"].shape[0]
        assert isinstance(size, torch.SymInt)
        assert size.node.expr == 4
        again = case_from_view(View(module), fixed.recipe, DataStore(tmp_path))
        assert [(item.hint, item.fixed) for item in again.symbols] == [(4, True)]
        assert again.graph.inputs[0].spec.shape == (again.symbols[0].name, 3)


def test_the_graph_that_a_pass_is_given_is_handed_over(tmp_path):
    passes = (Construct(f"{PLANTED}:Harmless"), Construct(f"{PLANTED}:OpensMode"))
    program = torch.export.export(Small(), (torch.randn(2, 3), torch.randn(2, 3)))
    recipe = Recipe("portable", transform_passes=passes, two_steps=True, last_stage=Stage.TO_EDGE)
    case = case_from_program(program, recipe, DataStore(tmp_path))
    found = explain(ExplainJob(case, str(tmp_path), ("one-fake-mode",)), StageClock())
    run = found.runs[found.culprit]
    assert run.name == "OpensMode"
    handed = pass_graph(PassGraphJob(case, str(tmp_path), run.index), StageClock()).case
    handed = replace(
        handed, recipe=replace(handed.recipe, alone=PassCall(run.construct, run.takes))
    )
    assert {node.target.partition(".")[0] for node in handed.graph.nodes} == {"edge"}
    assert attempt_of(handed, tmp_path, "one-fake-mode").failure is not None


def test_tensors_that_only_data_can_say_are_read_from_beside_the_script(tmp_path):
    class Table(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("table", torch.arange(100.0).sin())

        def forward(self, x):
            return x + self.table

    program = torch.export.export(Table(), (torch.zeros(100),))
    recipe = planted("StalesProgram", takes="program")
    view = View(program.graph_module, program, whole=True)
    case = case_from_view(view, recipe, DataStore(tmp_path))
    finding = finding_of(case, attempt_of(case, tmp_path, "metadata"), "metadata")
    stored = write_pass(finding, "data.safetensors").stored
    (tmp_path / "data.safetensors").write_bytes(tensor_file(stored, tmp_path))
    names = {"__name__": "script", "__file__": str(tmp_path / "repro_pass.py")}
    exec(render_pass(finding, "data.safetensors"), names)
    assert torch.equal(names["state_dict"]["table"], torch.arange(100.0).sin())
    assert names["is_broken"](*names["run_pass"]())


def test_a_test_of_both_levels_is_a_test(tmp_path):
    case = small_case(planted("OpensMode"), tmp_path)
    attempt = attempt_of(case, tmp_path, "one-fake-mode")
    finding = finding_of(case, attempt, "one-fake-mode")
    whole = case_from_program(
        torch.export.export(Small(), (torch.randn(2, 3), torch.randn(2, 3))),
        Recipe("portable", transform_passes=(case.recipe.alone.construct,), two_steps=True,
               last_stage=Stage.TO_EDGE),
        DataStore(tmp_path),
    )  # fmt: skip
    text = render_test(replace(finding, case=whole))
    names = {"__name__": "script"}
    exec(text, names)
    methods = [name for name in dir(names["TestRepro"]) if name.startswith("test_")]
    assert methods == ["test_no_pass_breaks_one_fake_mode", "test_opens_mode_keeps_one_fake_mode"]
    test = names["TestRepro"]()
    with pytest.raises(AssertionError):
        test.test_opens_mode_keeps_one_fake_mode()
    assert text.count("def look(") == 1
