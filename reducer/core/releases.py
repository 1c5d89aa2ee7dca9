"""Which torch fits which ExecuTorch release?

ExecuTorch does not declare it. The series is the one that the release's own source tree pins for its
build (``torch_pin.py``; before 1.1 ``install_requirements.py``) at the release's tag; 1.5 keeps the
pin of its branch point. 1.4.1 and 1.5.1, with 2.13.0, have been run for this project so far.
"""

from __future__ import annotations

#: ExecuTorch release (major.minor) -> torch series (major.minor).
TORCH_FOR = {
    "1.5": "2.13",
    "1.4": "2.13",
    "1.3": "2.12",
    "1.2": "2.11",
    "1.0": "2.9",
    "0.7": "2.8",
    "0.6": "2.7",
}


def mismatch(executorch: str, torch: str) -> str:
    """Why the two installed versions do not fit each other; "" if they do, or if nothing is known.

    >>> mismatch("1.5.1", "2.13.0+cpu")
    ''
    >>> mismatch("1.5.1", "2.14.1")
    'executorch 1.5.1 was built with torch 2.13, but torch 2.14.1 is installed'
    """
    wanted = TORCH_FOR.get(series(executorch))
    if wanted is None or series(torch) == wanted:
        return ""
    return f"executorch {executorch} was built with torch {wanted}, but torch {torch} is installed"


def series(version: str) -> str:
    """Major and minor number.

    >>> series("2.13.0+cpu")
    '2.13'
    """
    return ".".join(version.split("+", maxsplit=1)[0].split(".")[:2])
