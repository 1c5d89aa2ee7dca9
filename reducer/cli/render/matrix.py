"""How does a table of entries and environments look to a person, and to a program?"""

from __future__ import annotations

from typing import Any

from reducer.cli.render.replayed import cell
from reducer.workflows.matrix import Matrix


def table(matrix: Matrix) -> str:
    """A table in Markdown."""
    heads = ["entry", "fails with", *(str(versions) for _, versions in matrix.environments)]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for name in matrix.names:
        results = [matrix.cells.get((name, python)) for python, _ in matrix.environments]
        recorded = next((result.recorded for result in results if result), "")
        cells = [name, recorded[:80], *(result.word if result else "" for result in results)]
        lines.append(f"| {' | '.join(map(cell, cells))} |")
    return "\n".join(lines)


def document(matrix: Matrix) -> dict[str, Any]:
    """For a program."""
    return {
        "environments": [
            {"python": python, "executorch": versions.executorch, "torch": versions.torch}
            for python, versions in matrix.environments
        ],
        "entries": {
            name: [
                {"outcome": str(result.outcome), "detail": result.detail} if result else None
                for result in (
                    matrix.cells.get((name, python)) for python, _ in matrix.environments
                )
            ]
            for name in matrix.names
        },
    }
