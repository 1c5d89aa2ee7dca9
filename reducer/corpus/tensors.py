"""Which tensors does an entry bring along, so that its case can be judged without its script?

The ``.safetensors`` beside a script holds them under names of the script; the case knows them by the
digest of a file that holds one alone. Made into such files again, they are found by what they are.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from reducer.corpus.reading import Kept, read_file

_SUFFIX = ".safetensors"


def provide(kept: Kept, folder: Path) -> bool:
    """Write the tensors of an entry's case into a data folder; whether it has all that it needs."""
    wanted = set(kept.entry.stored)
    for name in kept.files if wanted else ():
        if name.endswith(_SUFFIX):
            for content in _single(read_file(kept.folder / name)):
                digest = hashlib.sha256(content).hexdigest()
                if digest in wanted:
                    folder.mkdir(parents=True, exist_ok=True)
                    (folder / f"{digest}{_SUFFIX}").write_bytes(content)
                    wanted.discard(digest)
    return not wanted


def _single(content: bytes) -> Iterator[bytes]:
    """Each tensor of a file as a file of its own; nothing if it is not of the format."""
    length = int.from_bytes(content[:8], "little")
    try:
        header = json.loads(content[8 : 8 + length])
        entries = [entry for name, entry in header.items() if name != "__metadata__"]
        parts = [(entry, *map(int, entry["data_offsets"])) for entry in entries]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return
    for entry, start, end in parts:
        body = content[8 + length + start : 8 + length + end]
        alone = {"dtype": entry.get("dtype"), "shape": entry.get("shape")}
        text = json.dumps(
            {"data": {**alone, "data_offsets": [0, len(body)]}}, separators=(",", ":")
        )
        padded = text.encode() + b" " * (-len(text) % 8)
        yield len(padded).to_bytes(8, "little") + padded + body
