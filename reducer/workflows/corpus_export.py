"""How do entries leave a corpus, as one file?"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path

from reducer.core.errors import BadInput
from reducer.core.files import write_atomic
from reducer.corpus import groups
from reducer.corpus.reading import Kept, read_file
from reducer.emit.record import FILE_NAME

#: The earliest date that a .zip can say: the same entries make the same file.
_DATE = (1980, 1, 1, 0, 0, 0)


def export_entries(entries: Sequence[Kept], target: Path) -> None:
    """Write them as a ``.zip`` of their files or as a ``.jsonl`` of facts. Raises BadInput."""
    forms = {".zip": _archive, ".jsonl": _lines}
    if target.suffix not in forms:
        raise BadInput(f"{target.name} ends in neither {' nor '.join(forms)}")
    try:
        write_atomic(target, forms[target.suffix](entries))
    except OSError as error:
        raise BadInput(f"cannot write {target}: {error.strerror or error}") from error


def facts(kept: Kept) -> dict[str, object]:
    """What a program may want to know of an entry."""
    entry = kept.entry
    return {
        "name": kept.name,
        "status": entry.status,
        "stage": str(entry.signature.stage),
        "types": list(entry.signature.types),
        "raised_in": entry.signature.raised_in,
        "message": entry.signature.message,
        "invariant": entry.oracle,
        "bucket": entry.bucket,
        "culprit": groups.culprit(entry),
        "operators": list(entry.operators),
        "dtypes": list(entry.dtypes),
        "failing": [str(versions) for versions in entry.failing],
        "passing": [str(versions) for versions in entry.passing],
        "report": entry.link,
    }


def _archive(entries: Sequence[Kept]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for kept in entries:
            for name in (*kept.files, FILE_NAME):
                item = zipfile.ZipInfo(f"{kept.name}/{name}", _DATE)
                item.compress_type = zipfile.ZIP_DEFLATED
                item.external_attr = 0o644 << 16
                archive.writestr(item, read_file(kept.folder / name))
    return content.getvalue()


def _lines(entries: Sequence[Kept]) -> bytes:
    return "".join(json.dumps(facts(kept)) + "\n" for kept in entries).encode()
