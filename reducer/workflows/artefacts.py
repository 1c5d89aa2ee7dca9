"""What is written for a case? Scripts, a test, the tensors that they read, a record, a report."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from reducer.core.case import Case
from reducer.core.files import modules_folder, write_atomic
from reducer.core.finding import Finding, Ledger, Slip
from reducer.core.kind import Kind
from reducer.core.python_source import imported
from reducer.core.recipe import packages
from reducer.core.signature import Signature
from reducer.emit.pass_script import render_pass, write_pass
from reducer.emit.record import write_finding
from reducer.emit.regression_test import render_test
from reducer.emit.report import report
from reducer.emit.repro_script import render
from reducer.emit.source import write_source
from reducer.emit.spelling import Spelling
from reducer.emit.tensor_file import tensor_file
from reducer.workflows.output import OutputFolder
from reducer.workflows.outward import Outward
from reducer.workflows.reduction import Slipped


class Artefacts:
    """Writes to one output folder, each file in one step. All methods raise OSError."""

    def __init__(self, folder: OutputFolder) -> None:
        self.folder = folder
        self._stored: dict[Path, Mapping[str, str]] = {}

    def write(self, finding: Finding, spelling: Spelling) -> Path:
        """Script and record of the case that the run is about; returns the script's path."""
        self.write_script(self.folder.repro, finding, spelling)
        write_finding(finding, self.folder.root)
        return self.folder.repro

    def write_pass(self, finding: Finding) -> Path:
        """The script of the finding at the level of one pass; returns its path. Raises NotHandled."""
        level, path = finding.at_pass_level(), self.folder.pass_repro
        data = path.with_suffix(".safetensors")
        stored = write_pass(level, data.name).stored
        text = render_pass(level, data.name if stored else "")
        if stored:
            write_atomic(data, tensor_file(stored, self.folder.data))
        self._put_modules(level.case, path.parent)
        write_atomic(path, text)
        return path

    def write_test(self, finding: Finding, spelling: Spelling) -> None:
        """The regression test; the tensors that it reads are those of the scripts.

        None for memory that runs out: how much is too much, no test can say.
        """
        if finding.failure.kind is Kind.MEMORY:
            return
        names = [
            data.name if (data := path.with_suffix(".safetensors")).exists() else ""
            for path in (self.folder.repro, self.folder.pass_repro)
        ]
        write_atomic(self.folder.test, render_test(finding, spelling, *names))

    def clear(self) -> None:
        """Remove the script of one pass and the test, which may be those of a larger case."""
        script, test = self.folder.pass_repro, self.folder.test
        for path in (script, script.with_suffix(".safetensors"), test):
            path.unlink(missing_ok=True)

    def write_script(self, path: Path, finding: Finding, spelling: Spelling) -> None:
        """A script; beside it a ``.safetensors`` with the tensors that only data can say."""
        self._put_modules(finding.case, path.parent)
        data = path.with_suffix(".safetensors")
        stored = write_source(finding.case, spelling, data.name).stored
        if not stored:
            write_atomic(path, render(finding, spelling))
            with contextlib.suppress(FileNotFoundError):
                data.unlink()
        else:
            if self._stored.get(data) != stored:  # it may be large
                write_atomic(data, tensor_file(stored, self.folder.data))
            write_atomic(path, render(finding, spelling, data.name))
        self._stored[data] = stored

    def _put_modules(self, case: Case, folder: Path) -> None:
        """Put the user's own modules beside a script that imports one of them."""
        kept = modules_folder(self.folder.data)
        names = {path.stem for path in kept.iterdir()} if kept.exists() else set()
        needed = {*case.recipe.modules, *packages(case.recipe), *imported(case.source)}
        if names & {path.partition(".")[0] for path in needed}:
            shutil.copytree(kept, folder, dirs_exist_ok=True)

    def write_report(self, finding: Finding, spelling: Spelling, traceback: str) -> None:
        """The bug report. ``traceback`` is what the script printed in a clean process."""
        data = self.folder.repro.with_suffix(".safetensors")
        name = data.name if self._stored.get(data) else ""
        level = finding.pass_level
        alone = ""
        if level is not None and level.shown:
            alone = self.folder.pass_repro.read_text(encoding="utf-8")
        elif level is not None and level.reason:
            alone = f"One pass alone does not show it: {level.reason}."
        text = report(finding, spelling, data_file=name, traceback=traceback, pass_level=alone)
        write_atomic(self.folder.report, text)

    def write_others(
        self, slips: Mapping[Signature, Slipped], finding: Finding, outward: Outward
    ) -> tuple[Slip, ...]:
        """Script and record of each other failure that was met on the way to ``finding``."""
        return tuple(self._slips(slips, finding, outward))

    def _slips(
        self, slips: Mapping[Signature, Slipped], finding: Finding, outward: Outward
    ) -> Iterable[Slip]:
        for number, (signature, slipped) in enumerate(slips.items(), 1):
            failure = slipped.attempt.failure
            assert failure is not None
            other = replace(
                finding,
                case=slipped.case,
                signature=signature,
                failure=failure,
                status="unconfirmed",
                certificate=(),
                slips=(),
                ledger=Ledger(),
                notes=(),
                diagnosis=None,
                elsewhere=(),
            )
            other = outward.finding(other)
            folder = self.folder.others / str(number)
            self.write_script(folder / "repro.py", other, {})
            write_finding(other, folder)
            place = f"others/{number}/repro.py"
            yield Slip(other.signature, other.failure.headline, other.case.operators, place)
