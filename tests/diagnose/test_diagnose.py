"""Do facts become the right words, without torch?"""

from __future__ import annotations

from dataclasses import replace

from reducer.core import text
from reducer.core.diagnosis import (
    Census,
    CensusNode,
    Explanation,
    Extraction,
    FakeMode,
    PartitionFacts,
    PassRun,
    Refusal,
    Violation,
)
from reducer.core.finding import Evidence
from reducer.core.signature import ChainLink, Failure, Frame
from reducer.core.stage import Stage
from reducer.core.verdict import Verdict
from reducer.diagnose import QUESTIONS, diagnose

OPENER = Frame("lib.base", "call", 12)
OUTER = PassRun(0, "Outer", "lib.outer", "lib.outer:Outer.call", Stage.PREPROCESS, delegate=0)
INNER = replace(
    OUTER,
    index=1,
    name="Retrace",
    function="lib.base:Base.call",
    parent=0,
    extraction=Extraction(real=2),
    violations=(Violation("one-fake-mode", "two modes", "mul", "2 + 1 values"),),
)
FAILURE = Failure(
    Stage.PREPROCESS,
    (
        ChainLink("Exception", "An error occurred when running the 'Outer' pass after: []"),
        ChainLink("AssertionError", "no match", (Frame("torch.guards", "detect", 3),)),
    ),
)
CENSUS = Census(
    (FakeMode("A", 2, (Frame("torch.export", "make"),)), FakeMode("B", 1, (OPENER,))),
    (
        CensusNode("c0", "placeholder", "c0", "A", True),
        CensusNode("c1", "placeholder", "c1", "A", True),
        CensusNode("mul", "call_function", "aten.mul.Tensor", "B"),
    ),
    1,
)
SEEN = Explanation(
    failure=FAILURE,
    runs=(OUTER, INNER),
    culprit=1,
    broken=INNER.violations[0],
    named="Outer",
    created_in=OPENER,
    census=CENSUS,
    partition=PartitionFacts(
        "SomeBackend", 0, 1, ("mul",), ("aten.mul.Tensor",), (0, 2, 0),
        (Refusal("pow", "aten.pow.Scalar", "no operator implementation"),),
    ),
    invariants=("one-fake-mode",),
)  # fmt: skip


def test_one_sentence_has_the_named_pass_the_opener_and_the_placeholders():
    summary = diagnose(SEEN).summary
    assert summary.count(". ") <= 1
    for part in ("names Outer", "lib.base:call (line 12)", "Retrace called by Outer", "c0, c1"):
        assert part in summary
    assert "all 2 placeholders" in summary


def test_answers_come_in_the_order_of_the_table_and_only_where_they_arise():
    names = [answer.name for answer in diagnose(SEEN).answers]
    assert names == ["culprit", "fake_modes", "raise_site", "partition"]
    assert [answer.name for answer in diagnose(Explanation()).answers] == []
    assert {question.NAME for question in QUESTIONS} == {*names, "nearest_pass"}


def test_the_census_counts_modes_placeholders_and_calls():
    facts = diagnose(SEEN).answer("fake_modes").facts
    assert "mode B: 1 value, created in lib.base:call (line 12)" in facts
    assert "of 2 placeholders 2 taken as real tensors, 0 as fake" in facts
    assert "A: 2 placeholders, 2 with .constant (c0, c1)" in facts
    assert "B: 1 call (aten.mul.Tensor)" in facts


def test_the_partition_says_where_it_ends_and_why():
    answer = diagnose(SEEN).answer("partition")
    assert "0 user inputs, 2 parameters and buffers, 0 constants" in answer.text
    assert "ends at aten.pow.Scalar (pow), left out: no operator implementation" in answer.facts


def test_raise_site_stands_beside_where_it_was_made():
    answer = diagnose(SEEN).answer("raise_site")
    assert answer.text == (
        "Raised in torch.guards:detect; what is wrong was made in lib.base:call (line 12)."
    )
    assert "outside every pass, after Outer had returned" in answer.facts


def test_the_nearest_neighbour_is_the_first_that_passes():
    certificate = (
        Evidence("mul", "drop: x", Verdict.OTHER),
        Evidence("c0", "cut-nodes: c0 as an input", Verdict.PASSES),
        Evidence("c1", "cut-nodes: c1 as an input", Verdict.PASSES),
    )
    answer = diagnose(SEEN, certificate).answer("nearest_pass")
    assert answer.text.startswith("2 single changes make it pass; the first is c0 as an input")
    assert "No single change" in diagnose(SEEN, certificate[:1]).answer("nearest_pass").text


def test_other_violations_name_pass_node_and_detail():
    stale = Violation("metadata", "another shape", "relu", "(1, 2) instead of (2,)")
    run = replace(OUTER, violations=(stale,))
    seen = Explanation(failure=FAILURE, runs=(run,), culprit=0, broken=stale, named="Outer")
    assert diagnose(seen).summary == (
        "The error names the right pass: after Outer, another shape at relu ((1, 2) instead of (2,))."
    )
    silent = replace(seen, failure=None, named="")
    assert diagnose(silent).summary.startswith("After Outer, another shape at relu")


def test_without_a_culprit_it_says_so():
    raised = replace(OUTER, error="RuntimeError: no")
    seen = Explanation(failure=FAILURE, runs=(raised,), raised=0, named="Outer")
    assert "No invariant fails before Outer raises." in diagnose(seen).answer("culprit").text
    assert "torch.guards:detect raises, in Outer" in diagnose(seen).summary
    assert "lowers" in diagnose(Explanation()).summary
    given = Explanation(input_violations=INNER.violations)
    assert "handed in is at fault already" in diagnose(given).summary
    assert "cannot be rebuilt: gone" in diagnose(Explanation(invalid="gone")).summary


def test_a_diagnosis_is_written_down_exactly():
    found = diagnose(SEEN)
    assert text.loads(text.dumps(found)) == found
