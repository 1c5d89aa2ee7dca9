"""Findings as an output folder of ``reduce`` has them, without a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from emit_cases import call, case

from reducer.core.case import Case
from reducer.core.finding import Finding
from reducer.core.signature import ChainLink, Failure, Frame, MatchRule, signature_of
from reducer.core.stage import Stage
from reducer.core.wire import Environment
from reducer.emit.record import write_finding

#: Passes when it is run, so that nothing here depends on torch.
SCRIPT = "import sys\nsys.exit(0)\n"


def failure(message: str = "two fake modes") -> Failure:
    frames = (Frame("torch.fake", "find", 12),)
    return Failure(Stage.PREPROCESS, (ChainLink("AssertionError", message, frames),))


def finding(
    program: Case | None = None, message: str = "two fake modes", **changes: object
) -> Finding:
    program = program or case((call("y", "aten.sin.default", "%x"),), "%y")
    seen = failure(message)
    found = Finding(
        "model.py", program, signature_of(seen), seen, MatchRule(),
        Environment("3.11.2", "2.13.0+cpu", "1.5.1", "linux"), "confirmed", 30,
    )  # fmt: skip
    return replace(found, **changes)  # type: ignore[arg-type]


def chain(*operators: str, backend: str = "vulkan") -> Case:
    """Unary operators one after the other."""
    nodes, value = [], "%x"
    for number, operator in enumerate(operators):
        nodes.append(call(f"y{number}", operator, value))
        value = f"%y{number}"
    built = case(tuple(nodes), value)
    return replace(built, recipe=replace(built.recipe, backend=backend))


def output_folder(root: Path, found: Finding, **files: str) -> Path:
    """``reduced/<name>/``, with what else a run leaves there."""
    root.mkdir(parents=True)
    write_finding(found, root)
    (root / "repro.py").write_text(files.pop("script", SCRIPT))
    for name, content in files.items():
        (root / name.replace("_", ".")).write_text(content)
    (root / "state").mkdir()
    (root / "state" / "worker.log").write_text("noise")
    return root


def ten_findings(root: Path) -> Sequence[Path]:
    """Ten output folders: eight bugs, and two of them a second time, with other names and files."""
    unary = ["aten.sin.default", "aten.relu.default"]
    programs = [chain(*unary[:1]), chain(*unary), chain(unary[1]), chain(unary[1], unary[1])]
    found = [finding(program) for program in programs]
    found += [finding(program, "something else") for program in programs]
    folders = [
        output_folder(root / str(number), item, script=f"# {number}\n{SCRIPT}", report_md="seen\n")
        for number, item in enumerate(found)
    ]
    renamed = case((call("other", "aten.sin.default", "%x"),), "%other")
    folders.append(output_folder(root / "8", finding(renamed), report_md="a longer report\n"))
    newer = replace(found[1].environment, executorch="1.6.0")
    folders.append(output_folder(root / "9", replace(found[1], environment=newer)))
    return folders


def tree(root: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {
        str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()
    }
