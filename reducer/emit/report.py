"""What does a maintainer want to receive? ``report.md``, ready for ExecuTorch's bug form.

The order is that of a reader with two minutes: what fails and how to see it, what really breaks, what
makes it go away, the rest. Every part has a limit, so that the whole is below the tracker's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from reducer.core.case import GETITEM
from reducer.core.diagnosis import Answer
from reducer.core.finding import Finding
from reducer.core.kind import Kind
from reducer.core.signature import ChainLink, without_explanations
from reducer.core.verdict import Verdict
from reducer.emit import report_cause as why
from reducer.emit.markdown import MOST_ROWS, fenced, prose, row, shortened
from reducer.emit.names import operator_name
from reducer.emit.repro_script import render, short_form, what_fails
from reducer.emit.run_function import entry
from reducer.emit.spelling import Spelling

#: Characters that GitHub takes as the body of an issue.
MOST_CHARACTERS = 65_536

# Characters of single parts at most: together less than the whole may have.
_TITLE, _SCRIPT, _MESSAGE, _TRACEBACK, _VERSIONS = 150, 16_000, 2_000, 14_000, 3_000
_PASS_LEVEL = 8_000
#: Lines in which Python underlines a part of the one above.
_CARETS = re.compile(r"^[ ~^]+\n", re.MULTILINE)


def report(
    finding: Finding,
    spelling: Spelling | None = None,
    *,
    data_file: str = "",
    traceback: str = "",
    pass_level: str = "",
) -> str:
    """The report as Markdown.

    ``traceback`` is what the script printed in a clean process; ``pass_level`` the script that shows the
    fault without a backend, or a sentence that says why there is none.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    pages = Environment(
        loader=PackageLoader("reducer.emit"), undefined=StrictUndefined, trim_blocks=True,
        keep_trailing_newline=True, autoescape=False,
    )  # fmt: skip
    diagnosis = finding.diagnosis
    explanation = diagnosis.explanation if diagnosis else None
    census = explanation.census if explanation else None
    several = census is not None and len(census.modes) > 1
    asked = finding.failure.kind is Kind.PROPERTY
    write = render if finding.oracle or asked else short_form
    return pages.get_template("report.md.j2").render(
        title=title(finding),
        opening=_opening(finding),
        script=fenced(shortened(write(finding, spelling, data_file), _SCRIPT), "python"),
        data=_data(finding, data_file),
        observed=fenced(_observed(finding)),
        expected=_expected(finding),
        summary=why.summary(finding, diagnosis),
        beside=why.beside(finding, explanation) if explanation else (),
        census_of=why.census_of(explanation) if explanation and several else "",
        census=why.census(census) if census and several else (),
        further=why.further(diagnosis) if diagnosis else (),
        pass_level=_pass_level(pass_level),
        reduced=_reduced(finding),
        neighbours=_bullets(_neighbours(finding)),
        backends=_bullets(_backends(finding)),
        traceback=fenced(shortened(_CARETS.sub("", traceback), _TRACEBACK)) if traceback else "",
        versions=fenced(shortened("\n".join(_versions(finding)), _VERSIONS)),
    )


def title(finding: Finding) -> str:
    """One line: the backend, the pass at fault and what it does; else which operators fail how."""
    text = finding.diagnosis.title if finding.diagnosis else ""
    if not text:
        names = dict.fromkeys(_operators(finding))
        cause = finding.failure.chain[-1]
        kind = cause.type.rpartition(".")[2]
        what = f"{', '.join(names)}: " if 0 < len(names) <= 3 else ""
        said = " ".join(finding.failure.cause.partition(": ")[2].split()).rstrip(": ")
        text = f"{what}{kind} in {finding.failure.stage}" + (f": {said}" if said else "")
    whole = f"[{_component(finding)}] {text}"
    return whole if len(whole) <= _TITLE else f"{whole[: _TITLE - 3].rsplit(' ', 1)[0]}..."


def _component(finding: Finding) -> str:
    """Whose bug it is: the backend's, or exir's if it fails in the same way without or with any.

    What is asked of a program is asked for one backend, whatever others make of it.
    """
    if finding.case.source:
        return str(finding.failure.stage)
    everywhere = {item.verdict for item in finding.elsewhere} == {Verdict.SAME}
    asked = finding.failure.kind is Kind.PROPERTY
    exir = (everywhere and not asked) or not finding.case.recipe.partitioners
    return "exir" if exir else finding.case.recipe.backend


def _operators(finding: Finding) -> list[str]:
    graphs = (finding.case.graph, *(graph for _, graph in finding.case.subgraphs))
    return [
        operator_name(node.target)
        for graph in graphs
        for node in graph.nodes
        if node.target != GETITEM
    ]


def _opening(finding: Finding) -> str:
    env, recipe = finding.environment, finding.case.recipe
    versions = f"executorch {env.executorch}, torch {env.torch}"
    how = "without a partitioner" if not recipe.partitioners else f"for {recipe.backend}"
    stage = f"`{finding.failure.stage}`"
    if finding.oracle:
        return (
            f"Lowering this module {how} does not raise, but a compiler pass breaks the program on the"
            f" way, in {stage} ({versions}). Run as it stands, the script names the pass:"
        )
    if finding.failure.kind is Kind.PROPERTY and recipe.asked is not None:
        return (
            f"Lowering this module {how} does not raise, but what it gives is not as it should be"
            f" ({versions}). `interesting`, in the script, is the property"
            f" ({prose(recipe.asked.name)}), asked after {stage}; run as it stands the script exits"
            " with 1 and says:"
        )
    if finding.failure.kind is Kind.RAISES and entry(recipe) == "lower":
        return f"Lowering this module {how} fails in {stage} ({versions}):"
    return f"{what_fails(finding).rstrip('.')} ({versions}):"


def _data(finding: Finding, data_file: str) -> str:
    if not data_file:
        return ""
    return (
        f"The values of tensors matter here: the script reads `{data_file}`, which has to be attached."
        " With zeros, ones or random numbers instead it does not fail."
    )


def _observed(finding: Finding) -> str:
    if finding.oracle:
        passes = " > ".join(finding.failure.passes)
        return f"after {passes}: {finding.failure.chain[-1].message}"
    links = "\ncaused by\n".join(_link(link) for link in finding.failure.chain)
    return shortened(links, 3 * _MESSAGE)


def _link(link: ChainLink) -> str:
    """An exception as Python prints it; long explanations of torch below its message are cut."""
    message = without_explanations(link.message)
    lines = [line for line in message.strip().splitlines() if line.strip()]
    name = link.type.rpartition(".")[2]
    return shortened(f"{name}: {chr(10).join(lines[:MOST_ROWS])}" if lines else name, _MESSAGE)


def _expected(finding: Finding) -> str:
    passing = [item.backend for item in finding.elsewhere if item.verdict is Verdict.PASSES]
    does = {"lower": "lowers", "export": "exports", "quantize": "is quantized"}
    what = f"it {does.get(entry(finding.case.recipe), 'runs')}"
    if finding.oracle:
        what = "every pass leaves a sound program"
    elif finding.failure.kind is Kind.PROPERTY:
        what = "the script says nothing and exits with 0"
    elif finding.failure.kind is Kind.WRONG:
        what = "the numbers of eager PyTorch"
    where = " and ".join(filter(None, [", ".join(passing[:-1]), *passing[-1:]]))
    return f"{what}, as for {where}." if passing else f"{what}."


def _pass_level(content: str) -> str:
    if "\n" not in content.strip():
        return prose(content)
    return fenced(shortened(content, _PASS_LEVEL), "python")


def _reduced(finding: Finding) -> str:
    before, after = finding.operators_before, finding.case.operators
    unit = f"{finding.case.unit}s"
    size = f"Reduced from {before} {unit} to {after}" if before > after else f"{after} {unit}"
    confirmed = {
        "confirmed": "; run in a clean process the script fails the same way",
        "stopped": "; the search was stopped, smaller may be possible",
    }.get(finding.status, f" ({finding.status})")
    if not any(item.verdict is Verdict.PASSES for item in finding.certificate):
        return f"{size}{confirmed}."
    return f"{size}{confirmed}. Each of these single changes makes it pass:"


def _neighbours(finding: Finding) -> list[str]:
    diagnosis = finding.diagnosis
    found: Answer | None = diagnosis.answer("nearest_pass") if diagnosis else None
    if found is None:
        return []
    graph = finding.case.graph
    names = [*(item.name for item in graph.inputs), *(node.name for node in graph.nodes)]
    more = [f"and {len(found.facts) - MOST_ROWS} more"] if len(found.facts) > MOST_ROWS else []
    return [prose(fact, names, limit=200) for fact in found.facts[:MOST_ROWS]] + more


def _backends(finding: Finding) -> list[str]:
    elsewhere, lowers = finding.elsewhere, entry(finding.case.recipe) == "lower"
    words = (
        (Verdict.SAME, "fails in the same way"),
        (Verdict.OTHER, "fails otherwise"),
        (Verdict.PASSES, "lowers" if lowers else "lowers and runs"),
    )
    rows = []
    for verdict, what in words:
        found = [item for item in elsewhere if item.verdict is verdict]
        if verdict is Verdict.OTHER:
            rows += [
                f"{what}: {prose(item.backend)} ({prose(item.instead, limit=300)})"
                for item in found[:MOST_ROWS]
            ]
        elif found:
            rows.append(f"{what}: {row([item.backend for item in found])}")
    return rows


def _bullets(items: Sequence[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def _versions(finding: Finding) -> Sequence[str]:
    env = finding.environment
    return finding.versions or (
        f"PyTorch version: {env.torch}",
        f"Python version: {env.python}",
        f"Python platform: {env.platform}",
        f"[pip3] executorch=={env.executorch}",
    )
