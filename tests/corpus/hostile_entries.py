"""Entries that a stranger might have written, each with what has to be said of it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

Change = Callable[[Path], object]


def _record(change: Callable[[dict[str, object]], object]) -> Change:
    def apply(folder: Path) -> None:
        path = folder / "finding.json"
        data = json.loads(path.read_text())
        change(data)
        path.write_text(json.dumps(data))

    return apply


def _with(*path: object, value: object) -> Change:
    """The record with another value at a place."""

    def change(data: object) -> None:
        for key in path[:-1]:
            data = data[key]  # type: ignore[index]
        data[path[-1]] = value  # type: ignore[index]

    return _record(change)


def _large(folder: Path) -> None:
    with (folder / "weights.safetensors").open("wb") as file:
        file.truncate(2**30)  # a gigabyte, though not on the disk


def _linked(target: str, name: str) -> Change:
    def apply(folder: Path) -> None:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(target)

    return apply


def _moved(name: str) -> Change:
    return lambda folder: folder.rename(folder.parent / name)


def _twice_each(data: dict[str, object]) -> None:
    """Thirty subgraphs, each with the next one twice: a thousand million in all."""
    graphs = []
    for number in range(30):
        inner = [{"_": "GraphRef", "name": f"g{number + 1}"}] * 2 if number < 29 else []
        node = {"_": "Node", "name": f"n{number}", "target": "higher_order.cond", "args": inner}
        graphs.append([f"g{number}", {"_": "Graph", "inputs": [], "nodes": [node], "outputs": []}])
    case = data["case"]
    assert isinstance(case, dict)
    case["subgraphs"] = graphs
    case["graph"]["nodes"][0]["args"] = [{"_": "GraphRef", "name": "g0"}]


#: What is done to a good entry, and a word of the reason that it is refused for.
CHANGES: dict[str, tuple[Change, str]] = {
    "broken JSON": (lambda folder: (folder / "finding.json").write_text('{"_": "Entry", '), "JSON"),
    "no JSON": (lambda folder: (folder / "finding.json").write_bytes(b"\xff\xfe\x00"), "JSON"),
    "deep": (lambda folder: (folder / "finding.json").write_text("[" * 10**6), "JSON"),
    "long number": (lambda folder: (folder / "finding.json").write_text("9" * 10**5), "JSON"),
    "another noun": (lambda folder: (folder / "finding.json").write_text('{"_": "MatchRule"}'), "entry"),
    "no noun": (lambda folder: (folder / "finding.json").write_text('{"_": "system"}'), "system"),
    "a list": (lambda folder: (folder / "finding.json").write_text("[1, 2]"), "entry"),
    "large record": (lambda folder: (folder / "finding.json").write_bytes(b" " * 5 * 2**20), "larger"),
    "large file": (_large, "larger"),
    "no script": (lambda folder: (folder / "repro.py").unlink(), "repro.py"),
    "script elsewhere": (_linked("/etc/passwd", "repro.py"), "plain file"),
    "record elsewhere": (_linked("/dev/zero", "finding.json"), "plain file"),
    "a pipe": (lambda folder: os.mkfifo(folder / "data.bin"), "plain file"),
    "folders": (lambda folder: (folder / "a/b/c/d").mkdir(parents=True), "deep"),
    "link in a folder": (_linked("/etc/passwd", "repro/x"), "plain file"),
    "name of a file": (lambda folder: (folder / "a\n<b>\x1b[31m").write_text(""), "plain name"),
    "many files": (lambda folder: [(folder / f"f{n}").write_text("") for n in range(70)], "files"),
    "another id": (_moved("0" * 16), "edited"),
    "traversal": (_moved("%2e%2e%2fetc"), "edited"),
    "control characters": (_moved("\x1b[2Jgone\n<img src=x onerror=alert(1)>"), "edited"),
    "another backend": (_with("case", "recipe", "backend", value="../../../etc"), "backend"),
    "types": (_with("signature", "types", value="Exception"), "Signature.types"),
    "a text as graph": (_with("case", "graph", value="graph"), "Case.graph"),
    "a number as target": (_with("case", "graph", "nodes", 0, "target", value=3), "Node.target"),
    "unknown value": (_with("case", "graph", "outputs", value=[{"_": "Ref", "name": "no"}]), "program"),
    "status": (_with("status", value="<b>"), "status"),
    "link": (_with("link", value="javascript:alert(1)"), "link"),
    "half a letter": (_with("summary", value="\ud800"), "no text"),
    "name in no alphabet": (_moved("\udcff\udcfe"), "edited"),
    "digest": (
        _with("case", "graph", "inputs", 0, "fill",
              value={"_": "Fill", "kind": "data", "digest": "../../../../etc/passwd"}), "digest",
    ),
    "subgraphs": (_record(_twice_each), "subgraphs"),
}  # fmt: skip
