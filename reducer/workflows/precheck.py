"""Which subjects can be refused at once, before a worker has spent seconds on importing torch?"""

from __future__ import annotations

from pathlib import Path

from reducer.core.errors import BadInput


def check_subject(subject: str) -> None:
    """Raise BadInput for a file that is missing, empty or no file.

    What is in it is the worker's business, as is ``package.module:attribute``.
    """
    path = Path(subject).expanduser()
    if ":" in subject and not path.exists() and not path.suffix.startswith((".py", ".pt")):
        return
    if path.is_dir():
        raise BadInput(f"{path} is a directory", hint="name a Python file or a .pt2 in it")
    if not path.exists():
        folder = path.parent
        near = sorted(item.name for item in folder.glob("*.py"))[:5] if folder.is_dir() else []
        raise BadInput(
            f"{path} does not exist",
            hint=f"in {folder}: {', '.join(near)}" if near else "check the path",
        )
    if path.is_file() and path.stat().st_size == 0:
        raise BadInput(
            f"{path} is empty",
            hint="it should define model and example_inputs, or export and lower a model",
        )
