"""What of ExecuTorch's own operator tests fails here, in how many ways, and to what does each way reduce?

    python -m tests.bench.suite FOLDER [--backend NAME ...] [--only WORD ...] [--reduce]

Each model is captured and lowered once per backend, up to the runtime where there is one. With ``--reduce``
the smallest model of each signature is reduced in a process of its own. All is kept in FOLDER: the same
command goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from reducer.core.errors import ReducerError
from reducer.core.signature import Failure, Signature, signature_of
from reducer.core.stage import Stage
from reducer.core.wire import Capture
from reducer.oracle.store import Store
from reducer.oracle.worker import Worker
from reducer.workflows.answers import captured_or_raise
from reducer.workflows.capturing import capture, preload
from reducer.workflows.output import OutputFolder
from reducer.workflows.settings import ReduceSettings
from reducer.workflows.source_strategy import size_before
from tests.bench.cases import run

BACKENDS = ("portable", "xnnpack", "vulkan", "coreml")


@dataclass(frozen=True)
class Failing:
    """A subject that fails, by how much is in it."""

    subject: Path
    size: int
    failure: Failure


def main() -> None:
    """Capture, print the table of signatures; then reduce one of each."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.suite",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--backend", nargs="+", default=list(BACKENDS))
    parser.add_argument("--only", nargs="+", default=[], help="subjects whose name has this in it")
    parser.add_argument("--reduce", action="store_true")
    arguments = parser.parse_args()
    subjects = _collected(arguments.folder / "subjects")
    if arguments.only:
        subjects = [item for item in subjects if any(word in item.stem for word in arguments.only)]
    for backend in arguments.backend:
        folder = OutputFolder(arguments.folder / backend)
        folder.data.mkdir(parents=True, exist_ok=True)
        ways: dict[Signature, list[Failing]] = defaultdict(list)
        told = 0
        for failing, problem in _swept(subjects, backend, folder):
            if failing is not None:
                ways[signature_of(failing.failure)].append(failing)
            elif problem:
                told += 1
                print(f"  {problem}", flush=True)
        failures = sum(map(len, ways.values()))
        print(
            f"{backend}: {len(subjects)} models, {failures} fail in {len(ways)} ways,"
            f" {told} could not be tried",
            flush=True,
        )
        for number, found in enumerate(
            sorted(ways.values(), key=lambda some: (-len(some), some[0].subject)), 1
        ):
            smallest = min(found, key=lambda item: (item.size, item.subject))
            failure = smallest.failure
            print(f"{len(found):>4} x {failure.stage:<14}{failure.cause[:150]}", flush=True)
            if failure.stage.rank < Stage.TO_EDGE.rank:
                print("       is the test's own: nothing was lowered yet", flush=True)
            elif arguments.reduce:
                print(
                    f"       {_reduced(smallest, backend, folder.root / f'{number}')}", flush=True
                )


def _collected(folder: Path) -> list[Path]:
    if not folder.exists():
        subprocess.run([sys.executable, "-m", "tests.bench.suite.collect", str(folder)], check=True)
    return sorted(folder.glob("*.py"))


def _swept(
    subjects: list[Path], backend: str, folder: OutputFolder
) -> Iterator[tuple[Failing | None, str]]:
    """For each subject how it fails, None if it does not; and why it could not be tried."""
    store = Store(folder.store)
    with Worker(folder.log, preload=preload(backend)) as worker:
        for subject in subjects:
            settings = ReduceSettings(str(subject), backend)
            try:
                taken = capture(settings, worker, store, folder).result
                found: Capture = captured_or_raise(taken, settings, folder.log)
            except ReducerError as error:
                yield None, f"{subject.stem}: {error.message}; {error.hint}"
                continue
            failure = found.attempt.failure
            if failure is None or found.case is None:
                yield None, f"{subject.stem}: {failure.headline}" if failure else ""
                continue
            yield Failing(subject, size_before(found.case, found.attempt), failure), ""
    store.close()


def _reduced(failing: Failing, backend: str, folder: Path) -> str:
    """What a reduction came to."""
    kept = folder.with_suffix(".json")
    if kept.exists():
        result = json.loads(kept.read_text())
    else:
        result = run(failing.subject, backend, folder)
        kept.write_text(json.dumps(result))
    operators = result.get("operators") or {}
    return (
        f"{failing.subject.stem}: {operators.get('before')} -> {operators.get('after')},"
        f" {result.get('calls')} calls, {result['wall']:.0f} s, exit {result['exit_code']}:"
        f" {result.get('status')} {str(result.get('message') or '')[:200]}"
    )


if __name__ == "__main__":
    main()
