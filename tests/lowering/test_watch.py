"""Is each planted fault found, named, and blamed on no neighbour? Are sound passes left in peace?"""

from __future__ import annotations

import functools

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("executorch.exir")

from executorch.exir.pass_base import ExportPass  # noqa: E402
from torch._export.verifier import Verifier  # noqa: E402
from torch.export import ExportedProgram  # noqa: E402

from reducer.core.diagnosis import INVARIANTS as NAMES  # noqa: E402
from reducer.lowering import backends, recorder  # noqa: E402
from reducer.lowering.construct import build  # noqa: E402
from reducer.lowering.healthy_models import MODELS  # noqa: E402
from reducer.lowering.pipeline import LoweringPlan, StageClock  # noqa: E402
from reducer.lowering.watch.explain import explain_lowering  # noqa: E402
from reducer.lowering.watch.invariants import CHEAP, INVARIANTS, chosen  # noqa: E402
from reducer.lowering.watch.oracle import lower_watched  # noqa: E402
from reducer.lowering.watch.watch import Watch  # noqa: E402
from tests.lowering import planted_passes as planted  # noqa: E402

pytestmark = pytest.mark.torch


class Small(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(3))

    def forward(self, x, y):
        return torch.relu(x * self.scale + y).sum(1)


def export(*, dynamic=False):
    rows = {0: torch.export.Dim("rows")}
    shapes = {"x": rows, "y": rows} if dynamic else None
    inputs = torch.randn(2, 3), torch.randn(2, 3)
    return torch.export.export(Small(), inputs, dynamic_shapes=shapes)


def explained(passes, names=(), program=None):
    plan = LoweringPlan(transform_passes=passes, two_steps=True)
    clock = StageClock()
    program = program or export()
    return explain_lowering(program, plan, Watch(program, chosen(names), clock), clock)


FAULTS = [
    (planted.OpensMode, "one-fake-mode", "values belong to more than one FakeTensorMode"),
    (planted.OpensModeInList, "one-fake-mode", "values belong to more than one FakeTensorMode"),
    (planted.StaleShape, "metadata", 'meta["val"] has another shape'),
    (planted.StaleStrides, "metadata", 'meta["val"] has another dim order'),
    (planted.FlipsFlag, "shared-state", "flag static_shapes of a fake mode is changed"),
    (planted.ChangesNumbers, "same-numbers", "an output has other numbers"),
    (planted.BreaksGraph, "well-formed", "the graph does not lint"),
    (planted.ChangesWeight, "shared-state", "the program that was handed in is changed"),
    (
        planted.LosesInput,
        "well-formed",
        "placeholders and the signature's inputs differ in order or number",
    ),
]


@pytest.mark.parametrize(
    ("fault", "invariant", "what"), FAULTS, ids=[f[0].__name__ for f in FAULTS]
)
def test_a_planted_fault_is_named_and_no_neighbour_is_blamed(fault, invariant, what):
    found = explained([planted.Harmless(), fault(), planted.Harmless()])
    culprit = found.runs[found.culprit]
    assert culprit.name == fault.__name__
    assert invariant in {violation.invariant for violation in culprit.violations}
    assert what in {violation.what for violation in culprit.violations}
    assert {run.name for run in found.runs if run.violations} == {fault.__name__}


def test_the_retrace_itself_sets_a_flag_of_the_mode_that_it_shares():
    found = explained([planted.ResetsFlag(), ExportPass()], ["shared-state"])
    assert found.runs[found.culprit].name == "ResetsFlag"
    (retrace,) = (run for run in found.runs if run.violations and run.index != found.culprit)
    assert retrace.function == "executorch.exir.pass_base:_ExportPassBase.call"
    assert retrace.violations[0].what == "flag allow_non_fake_inputs of a fake mode is changed"
    assert retrace.violations[0].detail == "False -> True"


def test_a_fault_of_the_second_run_is_blamed_on_the_second_run():
    fault = planted.BreaksSecondTime()
    found = explained([fault, planted.Harmless(), fault, planted.Harmless()])
    culprit = found.runs[found.culprit]
    assert (culprit.name, culprit.nth) == ("BreaksSecondTime", 2)
    assert [run.nth for run in found.runs if run.violations] == [2]


def test_a_plain_function_is_a_pass():
    found = explained([planted.Harmless(), planted.changes_numbers, planted.Harmless()])
    assert found.runs[found.culprit].name == "changes_numbers"
    assert found.runs[found.culprit].construct.path.endswith(":changes_numbers")


@pytest.mark.parametrize(
    ("cls", "step", "name"),
    [
        (ExportedProgram, "run_decompositions", "run_decompositions"),
        (Verifier, "check", "EXIREdgeDialectVerifier"),
    ],
)
def test_what_happens_to_a_program_between_the_passes_is_watched_as_well(
    monkeypatch, cls, step, name
):
    original = vars(cls)[step]

    def specialises(thing, *args):
        program = args[0] if isinstance(args[0], ExportedProgram) else thing
        if thing is program or type(thing).dialect == "EDGE":
            (size,) = {int(spec.meta["val"].shape[0]) for spec in placeholders(program)}
            assert size == 2  # a guard: from now on the symbol has this value
        return original(thing, *args)

    functools.update_wrapper(specialises, original)
    monkeypatch.setattr(cls, step, specialises)
    found = explained([planted.Harmless()], ["shared-state"], export(dynamic=True))
    culprit = found.runs[found.culprit]
    assert culprit.name == name
    assert found.broken.what.startswith("the value of symbol ")
    assert found.broken.detail.endswith(" -> 2")
    assert [run.name for run in found.runs if run.violations] == [name]


def placeholders(program):
    nodes = [node for node in program.graph.nodes if node.op == "placeholder"]
    return [node for node in nodes if len(node.meta["val"].shape) == 2]


def test_what_the_input_had_is_the_inputs_fault():
    program = export()
    planted.OpensMode()(program.graph_module)
    found = explained([planted.Harmless()], ["one-fake-mode"], program)
    assert [violation.invariant for violation in found.input_violations] == ["one-fake-mode"]
    assert found.culprit is None


def test_a_pass_that_raises_is_recorded_as_such():
    found = explained([planted.Harmless(), planted.Raises(), planted.Harmless()])
    assert found.culprit is None
    assert found.runs[found.raised].name == "Raises"
    assert found.runs[found.raised].error == "RuntimeError: on purpose"
    assert found.named == "Raises"


def test_everything_is_as_before_afterwards():
    from torch.fx.passes.infra.pass_base import PassBase

    before = PassBase.__call__, ExportPass.call, ExportPass.inputs
    explained([planted.Harmless()])
    assert (PassBase.__call__, ExportPass.call, ExportPass.inputs) == before


def test_constructor_arguments_are_known():
    recorder.install()
    from executorch.exir.passes import SpecPropPass
    from executorch.exir.passes.memory_planning_pass import MemoryPlanningPass

    assert SpecPropPass
    assert MemoryPlanningPass(alignment=32)
    found = explained([ExportPass()])
    retrace = next(run for run in found.runs if run.name == "ExportPass")
    assert retrace.construct.path == "executorch.exir.pass_base:ExportPass"


def test_a_graph_of_constants_alone_gets_a_second_mode_in_the_retrace():
    class Table(torch.nn.Module):
        def forward(self, x):
            return torch.arange(4) * 2

    vulkan = pytest.importorskip("executorch.backends.vulkan.partitioner.vulkan_partitioner")
    program = torch.export.export(Table(), (torch.zeros(1),))
    plan, clock = LoweringPlan([vulkan.VulkanPartitioner()]), StageClock()
    found = explain_lowering(program, plan, Watch(program, INVARIANTS, clock), clock)
    culprit = found.runs[found.culprit]
    assert culprit.function == "executorch.exir.pass_base:_ExportPassBase.call"
    assert found.runs[culprit.parent].name == found.named == "FuseBatchNormPass"
    assert (culprit.extraction.real, culprit.extraction.fake) == (1, 0)
    assert culprit.extraction.dispatcher is False
    assert (found.created_in.module, found.created_in.function) == (
        "executorch.exir.pass_base",
        "call",
    )
    first, second = found.census.modes
    assert (first.values, second.values) == (1, 3)
    assert first.created[0].module.startswith("torch._export")
    assert [node.constant for node in found.census.nodes if node.op == "placeholder"] == [True]
    assert found.partition.nodes == ("arange", "mul")


ORACLES = [
    (planted.OpensMode, "one-fake-mode"),
    (planted.StaleShape, "metadata"),
    (planted.FlipsFlag, "shared-state"),
    (planted.ChangesNumbers, "same-numbers"),
    (planted.BreaksGraph, "well-formed"),
]


@pytest.mark.parametrize(("fault", "name"), ORACLES, ids=[name for _, name in ORACLES])
def test_a_violation_is_a_failure_to_the_oracle_of_its_name_alone(fault, name):
    for oracle in NAMES:
        plan = LoweringPlan(transform_passes=[fault()], two_steps=True)
        attempt = lower_watched(export(), plan, StageClock(), oracle)
        if oracle == name:
            assert attempt.failure.chain[0].type == name
            assert attempt.failure.passes == (fault.__name__,)
            assert attempt.failure.chain[0].frames[-1].module == planted.__name__
        else:
            assert attempt.failure is None or attempt.failure.chain[0].type != oracle


@pytest.mark.parametrize("backend", ["xnnpack", "vulkan"])
@pytest.mark.parametrize("name", MODELS)
def test_no_pass_is_blamed_for_a_healthy_model(name, backend):
    model, inputs, dynamic = MODELS[name]()
    program = torch.export.export(model, inputs, dynamic_shapes=dynamic)
    plan = LoweringPlan([build(item) for item in backends.lowering(backend).partitioners])
    clock = StageClock()
    found = explain_lowering(program, plan, Watch(program, INVARIANTS, clock), clock)
    assert found.failure is None
    assert [(run.name, run.violations) for run in found.runs if run.violations] == []
    assert found.input_violations == ()


def test_cheap_invariants_do_not_execute():
    assert {check.NAME for check in CHEAP} == {"one-fake-mode", "well-formed", "shared-state"}
    assert tuple(check.NAME for check in INVARIANTS) == NAMES
