"""How is the subject captured, and is that needed at all on a resumed run?"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from reducer.core import text
from reducer.core.stage import Stage
from reducer.core.wire import Attempt, Capture, CaptureJob, Death, Result
from reducer.oracle.store import Store, store_key
from reducer.oracle.worker import Worker
from reducer.workflows.limits import first_limits
from reducer.workflows.output import OutputFolder
from reducer.workflows.settings import ReduceSettings

#: What a warm worker imports before the first job, by a word that a backend's name or a script holds.
_PRELOAD = {
    "vulkan": ("executorch.backends.vulkan.partitioner.vulkan_partitioner",),
    "webgpu": ("executorch.backends.vulkan.partitioner.vulkan_partitioner",),
    "xnnpack": ("executorch.backends.xnnpack.partition.xnnpack_partitioner",),
    "coreml": ("executorch.backends.apple.coreml.partition.coreml_partitioner",),
    "tosa": ("executorch.backends.arm.tosa.partitioner",),
    "ethosu": ("executorch.backends.arm.ethosu.partitioner",),
    "vgf": ("executorch.backends.arm.vgf.partitioner",),
    "openvino": ("executorch.backends.openvino.partitioner",),
    "cadence": ("executorch.backends.cadence.aot.compiler",),
}


class Taken(NamedTuple):
    """What capturing gave. ``anew``: it is not what an earlier run in this folder captured."""

    result: Result
    anew: bool


def preload_for(settings: ReduceSettings) -> list[str]:
    """Modules worth importing before the subject: those of the backend that it is lowered for."""
    return preload(settings.backend or _source(settings.subject))


def preload(text: str) -> list[str]:
    """Modules of the backends that a text mentions."""
    words = text.lower()
    return sorted(
        {module for word, modules in _PRELOAD.items() if word in words for module in modules}
    )


def capture(
    settings: ReduceSettings,
    worker: Worker,
    store: Store,
    folder: OutputFolder,
    watch: Sequence[str] | None = None,
) -> Taken:
    """Run the subject once, or take the stored capture if none of its files changed since.

    ``watch``: invariants for which its lowering is watched, all if empty; None: it is not watched.
    """
    job = CaptureJob(
        str(Path(settings.subject).resolve())
        if Path(settings.subject).exists()
        else settings.subject,
        str(folder.data),
        settings.backend,
        settings.options,
        settings.argv,
        settings.oracle,
        settings.rtol,
        settings.atol,
        tuple(watch) if watch is not None else None,
        settings.asked,
    )
    key = store_key("capture", text.dumps(job), worker.environment)
    known = store.get(key)
    if known is not None and isinstance(known[0], Capture) and _unchanged(known[0], folder):
        return Taken(known[0], anew=False)
    answer = worker.run(job, first_limits(settings))
    result = _having_died(answer.result) if isinstance(answer.result, Death) else answer.result
    if isinstance(result, Capture):
        store.put(key, result, answer.seconds)
    return Taken(result, known is None or _differ(known[0], result))


def _having_died(death: Death) -> Capture | Death:
    """What was captured before the process that lowered it died, with that as its failure."""
    found, failure = death.captured, death.failure
    if found is None or found.case is None or failure is None:
        return death
    case = replace(found.case, recipe=replace(found.case.recipe, last_stage=failure.stage))
    seconds = tuple(item for item in death.seconds if item[0] != str(Stage.LOAD))
    return replace(found, case=case, attempt=Attempt(failure, seconds=seconds))


def _differ(known: Result, found: Result) -> bool:
    both = isinstance(known, Capture) and isinstance(found, Capture)
    return not both or known.case != found.case  # type: ignore[union-attr]


def _unchanged(found: Capture, folder: OutputFolder) -> bool:
    if not found.files or any(_digest(path) != digest for path, digest in found.files):
        return False
    inputs = found.case.graph.inputs if found.case else ()
    wanted = [item.fill.digest for item in inputs if item.fill.digest]
    return all((folder.data / f"{digest}.safetensors").exists() for digest in wanted)


def _digest(path: str) -> str:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return ""


def _source(subject: str) -> str:
    try:
        return Path(subject).read_text(errors="replace") if subject.endswith(".py") else ""
    except OSError:
        return ""
