"""What goes into the ``.safetensors`` beside a script whose tensors cannot be made by a call?

The format is simple enough to need no library: eight bytes with the length of a JSON header, the
header with dtype, shape and offsets of each tensor, then the bytes. Source:
https://github.com/huggingface/safetensors#format
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from reducer.core.errors import BadInput


def tensor_file(stored: Mapping[str, str], folder: Path) -> bytes:
    """One file with all tensors of ``stored`` (key to digest), read from the data folder.

    Raises BadInput if the folder lacks one of them or holds something else.
    """
    header: dict[str, object] = {}
    chunks: list[bytes] = []
    offset = 0
    for key, digest in stored.items():
        entry, content = _only_tensor(folder / f"{digest}.safetensors")
        header[key] = {**entry, "data_offsets": [offset, offset + len(content)]}
        chunks.append(content)
        offset += len(content)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # the format keeps the bytes aligned
    return len(text).to_bytes(8, "little") + text + b"".join(chunks)


def _only_tensor(path: Path) -> tuple[dict[str, object], bytes]:
    try:
        content = path.read_bytes()
        length = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + length])
        [entry] = [item for key, item in header.items() if key != "__metadata__"]
        start, end = entry["data_offsets"]
    except (OSError, ValueError, KeyError, AttributeError) as error:
        raise BadInput(
            f"the stored tensor {path.name} cannot be read: {error}",
            hint="the data folder belongs to the finding; run the reduction again",
        ) from error
    return entry, content[8 + length + start : 8 + length + end]
