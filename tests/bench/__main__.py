"""Is `reduce` ahead of the other minifiers? Cases x tools, on one logged oracle with a warm worker for all.

    python -m tests.bench FOLDER [--only CASE ...] [--tools TOOL ...] [--ablations] [--planted]
                          [--plot FILE] [--repeats N] [--calls N] [--seconds S] [-o FOLDER]

Each case is lowered for the first backend that it names. `to size` is the call after which the tool got no
smaller; `refused` are candidates that are no programs, and are not counted as calls; `>` marks what a limit
ended. Where a tool is not installed, or cannot do a case, its row says so.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from reducer.core.errors import ReducerError
from tests.bench import planted_sequences, table
from tests.bench.ablations import ablations
from tests.bench.cases import backends
from tests.bench.plot import plot
from tests.bench.run import Row, run
from tests.bench.task import Spending, subject
from tests.bench.tools import OURS, TOOLS, load

#: A search on a planted sequence gives up after so many calls.
_PLANTED_CALLS = 20_000


def main() -> None:
    """Print what was asked for."""
    arguments = _arguments()
    if arguments.planted:
        searches = {
            name: module.minimize
            for name, module in ((name, load(name)) for name in arguments.tools)
            if hasattr(module, "minimize")
        }
        for line in planted_sequences.table(searches, planted_sequences.SIZES, _PLANTED_CALLS):
            print(line, flush=True)
    if arguments.folder is None:
        return
    output = arguments.output or Path(tempfile.mkdtemp(prefix="reduce-bench-"))
    rows = list(_rows(arguments, output))
    for ours in OURS:
        print()
        for line in table.ratios([row for row in rows if row.tool in TOOLS], ours):
            print(line)
    output.mkdir(parents=True, exist_ok=True)
    (output / "rows.json").write_text(json.dumps([asdict(row) for row in rows], indent=1))
    if arguments.plot:
        plot(rows, arguments.plot)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--only", nargs="+", default=[], metavar="CASE")
    parser.add_argument("--tools", nargs="+", default=list(TOOLS), choices=TOOLS, metavar="TOOL")
    parser.add_argument(
        "--ablations", action="store_true", help="ours again, one part off each time"
    )
    parser.add_argument("--planted", action="store_true", help="bugs planted in sequences")
    parser.add_argument("--plot", type=Path, help="write size over time to this file")
    parser.add_argument("--repeats", type=int, default=1, help="show medians of so many runs")
    parser.add_argument("--calls", type=int, default=400, help="a tool's calls per case")
    parser.add_argument("--seconds", type=float, default=600, help="a tool's seconds per case")
    parser.add_argument("-o", "--output", type=Path, help="keep logs and rows here")
    arguments = parser.parse_args()
    if arguments.folder is None and not arguments.planted:
        parser.error("name a folder of cases, or ask for --planted")
    return arguments


def _rows(arguments: argparse.Namespace, output: Path) -> Iterator[Row]:
    """Run all, print each row as soon as it is there."""
    tools = {name: load(name) for name in arguments.tools}
    spending = Spending(arguments.calls, arguments.seconds)
    print(table.HEAD, flush=True)
    for path in sorted([*arguments.folder.glob("*.py"), *arguments.folder.glob("*/*.py")]):
        if arguments.only and path.stem not in arguments.only:
            continue
        try:
            with subject(path, backends(path)[0], output) as case:
                for name, module in tools.items():
                    keeps = getattr(module, "STORE", False)
                    repeats = [
                        run(module.run, name, case, spending, store=keeps)
                        for _ in range(arguments.repeats)
                    ]
                    yield _told(repeats)
                if arguments.ablations:
                    for row in ablations(case, spending):
                        yield _told([row])
        except ReducerError as error:
            print(f"{path.stem:<22}{error.message}", flush=True)


def _told(repeats: Sequence[Row]) -> Row:
    row = table.medians(repeats)
    print(table.line(row), flush=True)
    return row


if __name__ == "__main__":
    main()
