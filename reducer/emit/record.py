"""How is a finding kept on disk? As ``finding.json``: exact, readable, written in one step."""

from __future__ import annotations

import json
from pathlib import Path

from reducer.core.errors import BadInput
from reducer.core.files import write_atomic
from reducer.core.finding import Finding
from reducer.core.text import encode, loads

FILE_NAME = "finding.json"


def write_finding(finding: Finding, folder: Path) -> Path:
    """Write ``finding.json`` into ``folder`` and return its path. Raises OSError."""
    path = folder / FILE_NAME
    write_atomic(path, finding_text(finding))
    return path


def finding_text(finding: Finding) -> str:
    """The finding as indented JSON; records that fit are on one line."""
    return record_text(finding)


def record_text(noun: object) -> str:
    """Any noun in that form."""
    return _layout(encode(noun), 0) + "\n"


def read_finding(path: Path) -> Finding:
    """The finding in a file, or in the ``finding.json`` of a folder. Raises BadInput."""
    path = path / FILE_NAME if path.is_dir() else path
    try:
        found = loads(path.read_bytes())
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror or error}") from error
    if not isinstance(found, Finding):
        raise BadInput(f"{path} is not a finding", hint="expected the finding.json of a reduction")
    return found


_WIDTH = 110


def _layout(data: object, depth: int) -> str:
    """JSON in which whatever fits on a line is on one line: a node is a line, not forty."""
    line = json.dumps(data, ensure_ascii=False, allow_nan=False)
    if len(line) + depth <= _WIDTH or not isinstance(data, dict | list) or not data:
        return line
    inner, outer = "\n" + " " * (depth + 1), "\n" + " " * depth
    if isinstance(data, dict):
        items = [f"{json.dumps(key)}: {_layout(item, depth + 1)}" for key, item in data.items()]
        return "{" + inner + f",{inner}".join(items) + outer + "}"
    return "[" + inner + f",{inner}".join(_layout(item, depth + 1) for item in data) + outer + "]"
