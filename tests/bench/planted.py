"""How do size, calls and seconds of our own code grow with the model? Planted bugs, no torch.

    python -m tests.bench.planted [--nodes N ...]

Two tables: where the first failure names nothing, with the operators at fault spread over the whole model, and
where it names a partition of at most 24 operators that holds them. The whole search runs as `reduce` runs it:
store, job texts, and a script and a record for each smaller case that can be read. ``own s`` is the time for which
all of that computed; what stands for the worker is not counted. ``calls`` are all paid ones, ``after`` those after
isolation, ``bound`` and calls / bound as in the ledger, then the same for operators alone, as if attributes took none.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from reducer.core import text
from reducer.core.case import Case, Fill
from reducer.core.events import Event
from reducer.core.finding import Finding, Ledger
from reducer.core.signature import signature_of
from reducer.core.stage import Stage
from reducer.core.wire import Attempt, Environment, Job, JudgeJob, Limits
from reducer.emit.record import read_finding
from reducer.emit.scrub import Scrubber
from reducer.oracle.confirm import CleanInterpreter
from reducer.oracle.judge import Judge
from reducer.oracle.store import Store
from reducer.oracle.worker import Answer, Worker
from reducer.search.bound import calls_bound
from reducer.search.budget import Budget
from reducer.workflows.conclusion import Conclusion
from reducer.workflows.output import OutputFolder
from reducer.workflows.outward import Outward
from reducer.workflows.search import Search
from reducer.workflows.session import Session
from reducer.workflows.settings import ReduceSettings
from tests.quality.planted import WANTED, Values, attempted, planted
from tests.quality.scenarios import MARKS, chain, has

NODES = (31, 128, 512, 2048, 5000)
FAULTS = {"1": 1, "2 adjacent": 2, "3 spread": 3, "8 spread": 8}
PARTITION = 24


@dataclass
class PlantedWorker:
    """Stands for the worker: jobs are written down as they would be; its seconds are not ours."""

    marks: tuple[str, ...]
    environment: Environment = field(default_factory=Environment)
    seconds: float = 0.0
    asked: int = 0

    def submit(self, job: Job, limits: Limits) -> Job:
        self.asked += 1
        json.dumps({"id": self.asked, "job": text.encode(job), "limits": text.encode(limits)})
        return job

    def wait(self, job: Job) -> Answer:
        assert isinstance(job, JudgeJob)
        began = time.process_time()
        attempt = attempted(job.case, self._fails)
        took = time.process_time() - began
        self.seconds += took
        stages = () if attempt.invalid else ((str(Stage.PREPROCESS), 1.0),)
        return Answer(replace(attempt, seconds=stages), took)

    def _fails(self, case: Case, _: Values) -> str:
        return WANTED if has(case, *self.marks) else ""


@dataclass(frozen=True)
class Row:
    """What came of one planted bug. Seconds are those for which our own code computed."""

    operators: int
    ledger: Ledger
    of_operators: int
    seconds: float

    def __str__(self) -> str:
        ledger = self.ledger
        isolating = {name: useful + useless for name, useful, useless in ledger.paid}["isolate"]
        told = f"{self.operators:>5}{ledger.calls:>7}{ledger.calls - isolating:>7}"
        for bound in (ledger.bound, self.of_operators):
            told += f"{bound:>8}{ledger.calls / bound:>7.2f}"
        return f"{told}{self.seconds:>8.2f}"


def measure(nodes: int, faults: str, *, named: bool) -> Row:
    """Reduce one planted bug."""
    width = min(nodes, PARTITION) if named else nodes
    first = (nodes - width) // 2
    marks = dict(zip(places(faults, first, width), MARKS, strict=False))
    case = chain(marks, nodes=nodes, weights=Fill("random"))
    names = tuple(f"n{place}" for place in range(first, first + width)) if named else ()
    region = width if named else case.operators
    with tempfile.TemporaryDirectory() as folder:
        worker = PlantedWorker(tuple(marks.values()))
        began = time.process_time()
        finding = reduce_whole(OutputFolder(Path(folder)), worker, case, names)
        seconds = time.process_time() - began - worker.seconds
    left = finding.case.operators
    return Row(left, finding.ledger, calls_bound(region, left), seconds)


def places(faults: str, first: int, width: int) -> list[int]:
    """Where the operators at fault are: side by side in the middle, or evenly spread."""
    count = FAULTS[faults]
    if "spread" not in faults:
        return [first + width // 2 + place for place in range(count)]
    return [first + int(width * (place + 0.5) / count) for place in range(count)]


def reduce_whole(
    folder: OutputFolder,
    worker: PlantedWorker,
    case: Case,
    partition: tuple[str, ...],
    report: Callable[[Event], None] = lambda _: None,
) -> Finding:
    """What `reduce` does with a captured case, up to the certificate; the record that it writes."""
    failure, settings = planted(WANTED), ReduceSettings("model.py")
    store = Store(folder.store)
    the_worker, no_process = cast(Worker, worker), cast(CleanInterpreter, None)
    session = Session(settings, report, folder, store, the_worker, no_process)
    judge = Judge(
        the_worker, store, Budget(time.monotonic), data_dir=folder.data, wanted=signature_of(failure),
        rule=settings.rule, limits=Limits(),
    )  # fmt: skip
    conclusion = Conclusion(session, judge.counts, failure, Outward(Scrubber()), Limits(), ())
    first = Attempt(failure, partition=partition)
    search = Search(session, judge, case, first, Limits(), lambda _: conclusion.improved(search))
    assert not search.run()
    conclusion.certificate, _ = search.certify()
    conclusion.improved(search)
    store.close()
    return read_finding(folder.root)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, nargs="*", default=NODES)
    sizes = parser.parse_args().nodes
    for named, title in (
        (False, "the first failure names nothing"),
        (True, "it names a partition"),
    ):
        print(f"{title}\n{'nodes':>6} {'at fault':<12}{'ends':>5}{'calls':>7}{'after':>7}", end="")
        print(f"{'bound':>8}{'':>7}{'(oper.)':>8}{'':>7}{'own s':>8}")
        for nodes in sizes:
            for faults in FAULTS:
                row = measure(nodes, faults, named=named)
                print(f"{nodes:>6} {faults:<12}{row}", flush=True)


if __name__ == "__main__":
    main()
