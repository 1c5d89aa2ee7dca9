"""Is the report what ExecuTorch's form asks for: complete, rendered as meant, never too long?"""

from __future__ import annotations

import ast
import re
from dataclasses import replace

import pytest
from emit_cases import call, case, given
from markdown_it import MarkdownIt

from reducer.core.diagnosis import (
    Answer,
    Census,
    CensusNode,
    Diagnosis,
    Explanation,
    Extraction,
    FakeMode,
    PassRun,
    Violation,
)
from reducer.core.finding import Elsewhere, Evidence, Finding
from reducer.core.recipe import Construct, Recipe
from reducer.core.signature import ChainLink, Failure, Frame, MatchRule, signature_of
from reducer.core.stage import Stage
from reducer.core.verdict import Verdict
from reducer.core.wire import Environment
from reducer.emit.report import MOST_CHARACTERS, report, title

OUTER = PassRun(0, "Outer", "lib.outer", "lib.outer:Outer.call", Stage.PREPROCESS, delegate=0)
INNER = replace(
    OUTER, index=1, name="Retrace", function="lib.base:Base.call", parent=0,
    extraction=Extraction(real=1),
    violations=(Violation("one-fake-mode", "values belong to more than one mode", "mul_1"),),
)  # fmt: skip
CENSUS = Census(
    (FakeMode("A", 1, (Frame("torch.e", "make", 4),)), FakeMode("B", 1, (Frame("lib.b", "f", 12),))),
    (
        CensusNode("c_1", "placeholder", "c_1", "A", True),
        CensusNode("mul_1", "call_function", "aten.mul.Tensor", "B"),
    ),
    1,
)  # fmt: skip
CHAIN = (
    ChainLink("RuntimeError", "An error occurred when running the 'Outer' pass"),
    ChainLink(
        "a.OddError", "mode <A|B> of *x*\n\nWhile executing %all", (Frame("torch.g", "detect", 3),)
    ),
)
FAILURE = Failure(Stage.PREPROCESS, CHAIN)
NEAREST = Answer("nearest_pass", "One.", ("x in place of relu", "float32 -> int64"))


def explanation() -> Explanation:
    return Explanation(
        failure=FAILURE, runs=(OUTER, INNER), culprit=1, broken=INNER.violations[0], named="Outer",
        created_in=Frame("lib.b", "f", 12), census=CENSUS, invariants=("one-fake-mode",),
    )  # fmt: skip


def finding(**changes: object) -> Finding:
    recipe = Recipe("vulkan", (Construct("executorch.p:P"),), last_stage=Stage.PREPROCESS)
    made = case((call("relu", "aten.relu.default", "%x"),), "%relu", inputs=(given(),))
    diagnosis = Diagnosis("Outer is <named>.", (NEAREST,), explanation(), "Retrace does it")
    base = Finding(
        "m.py", replace(made, recipe=recipe), signature_of(FAILURE), FAILURE, MatchRule(),
        Environment("3.11", "2.13.0", "1.5.1"), "confirmed", 9,
        certificate=(Evidence("relu", "bypass-nodes: x in place of relu", Verdict.PASSES),),
        diagnosis=diagnosis,
        elsewhere=(
            Elsewhere("webgpu", Verdict.SAME),
            Elsewhere("xnnpack", Verdict.PASSES),
            Elsewhere("portable", Verdict.PASSES),
            Elsewhere("other", Verdict.OTHER, "KeyError: <k>"),
        ),
        versions=("PyTorch version: 2.13.0", "[pip3] executorch==1.5.1"),
    )  # fmt: skip
    return replace(base, **changes)  # type: ignore[arg-type]


def html(text: str) -> str:
    return str(MarkdownIt("gfm-like", {"linkify": False}).render(text))


def sections(page: str) -> list[str]:
    return re.findall(r"<h[134]>(.*?)</h[134]>", page)


def test_its_sections_are_those_of_the_form_in_the_readers_order() -> None:
    page = html(report(finding(), traceback="Traceback: x"))
    assert sections(page) == [
        "[vulkan] Retrace does it", "🐛 Describe the bug", "What really breaks", "What was tried",
        "Versions",
    ]  # fmt: skip
    assert page.count("<table>") == 2
    assert page.count("<li>") == 5
    assert "<details>" in page


def test_the_script_in_it_is_whole_and_calls_the_lowering() -> None:
    text = report(finding())
    (script,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    tree = ast.parse(script)
    assert ast.unparse(tree.body[-1]) == "lower()"
    assert "expect-failure" not in script


def test_the_error_stands_beside_the_cause() -> None:
    rows = [line for line in report(finding()).splitlines() if line.startswith("| ")]
    assert "| pass | `Outer` | `Retrace`, called by `Outer` |" in rows
    assert "| place | `torch.g:detect` | `lib.b:f` line 12 |" in rows
    assert any("`c_1` (1 of 1 with `.constant`)" in row for row in rows)


def test_what_is_in_messages_is_shown_as_it_stands() -> None:
    text = report(finding())
    page = html(text)
    assert "mode &lt;A|B&gt; of *x*" in page
    assert "Outer is &lt;named&gt;." in page
    assert "While executing" not in text
    assert html(report(finding(), traceback="````\n# no heading\n````")).count("<h1>") == 1


def test_backends_and_neighbours_are_told() -> None:
    text = report(finding())
    assert "- fails in the same way: webgpu\n" in text
    assert "- lowers: xnnpack, portable\n" in text
    assert "**Expected:** it lowers, as for xnnpack and portable." in text
    assert "- `x` in place of `relu`\n- float32 -> int64\n" in text


@pytest.mark.parametrize(
    ("changes", "start"),
    [
        ({}, "[vulkan] Retrace does it"),
        ({"diagnosis": None}, "[vulkan] relu: OddError in preprocess: mode <A|B>"),
        ({"elsewhere": (Elsewhere("xnnpack", Verdict.SAME),)}, "[exir] Retrace"),
    ],
)
def test_title(changes: dict[str, object], start: str) -> None:
    assert title(finding(**changes)).startswith(start)
    long = replace(FAILURE, chain=(ChainLink("E", "word " * 100),))
    assert len(title(finding(diagnosis=None, failure=long))) <= 150


def test_without_a_guilty_pass_it_says_so() -> None:
    seen = replace(explanation(), culprit=None, broken=None, census=None)
    text = report(finding(diagnosis=Diagnosis("No.", (), seen)))
    assert (
        "`torch.g:detect` raises. No compiler pass broke the program before that: 2 pass runs"
        in text
    )
    assert "|---|" not in text


def test_a_repro_at_the_level_of_the_pass_or_the_reason_why_there_is_none() -> None:
    assert "#### The same without a backend\n\n```python\nimport a\nb()" in report(
        finding(), pass_level="import a\nb()\n"
    )
    assert "\n\nIt needs a delegate.\n" in report(finding(), pass_level="It needs a delegate.")
    assert "without a backend" not in report(finding())


def test_an_invariant_is_shown_by_the_whole_script() -> None:
    broken = Failure(Stage.TO_EDGE, (ChainLink("one-fake-mode", "two modes"),), ("Outer",))
    text = report(finding(failure=broken, oracle="one-fake-mode"))
    assert "does not raise, but a compiler pass breaks" in text
    assert "def watch():" in text
    assert "after Outer: two modes" in text


def test_it_is_below_the_trackers_limit_whatever_is_in_it() -> None:
    huge = "many words <and> |more| `of` them " * 3_000
    rows = tuple(CensusNode("n" * 5000, "call_function", f"aten.{n}.x", "B") for n in range(999))
    modes = tuple(FakeMode(f"M{n}", 9, (Frame(huge, huge),)) for n in range(99))
    seen = replace(explanation(), census=Census(modes, rows, 1), named=huge[:9999])
    answer = Answer("nearest_pass", huge, (huge,) * 99)
    partition = Answer("partition", huge, (f"ends at {huge}",) * 99)
    chain = (ChainLink(huge, huge), ChainLink(huge, huge, (Frame(huge, huge),)))
    made = finding(
        diagnosis=Diagnosis(huge, (answer, partition), seen, huge),
        failure=Failure(Stage.PREPROCESS, chain * 20),
        elsewhere=(Elsewhere(huge, Verdict.OTHER, huge),) * 50,
        versions=(huge,) * 50,
    )
    text = report(made, traceback=huge, pass_level=f"{huge}\n{huge}")
    assert len(text) < MOST_CHARACTERS
    assert "characters left out" in text
    assert sections(html(text))[-1] == "Versions"
