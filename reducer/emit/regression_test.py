"""What does the test look like that fails today and passes once it is mended?

In the style of ExecuTorch's own tests: a ``unittest`` class, run by pytest. It stands by itself; beside
it are needed only the tensors of the repro, if that has any.
"""

from __future__ import annotations

import re

from reducer.core.finding import Finding
from reducer.core.kind import Kind
from reducer.core.signature import Failure
from reducer.emit.invariant_checks import CHECKS
from reducer.emit.numbers_check import numbers_function
from reducer.emit.pass_script import write_pass
from reducer.emit.property_check import property_function, question
from reducer.emit.repro_script import header, import_blocks, lower_function
from reducer.emit.run_function import entry, run_function
from reducer.emit.source import write_source
from reducer.emit.spelling import Spelling

#: What ends the process would take the other tests with it.
_IN_A_PROCESS = """\
    def test_{name}(self):
        code = "import {{0}}; {{0}}.{function}()".format(Path(__file__).stem)
        command = [sys.executable, "-c", code]
        process = subprocess.run(command, cwd=Path(__file__).parent, timeout={seconds})
        self.assertEqual(process.returncode, 0)"""

#: Seconds that a process may take which is not expected to hang; how much slower a fresh one is.
_LONGEST, _SLOWER, _SHORTEST = 600, 2, 30


def render_test(
    finding: Finding, spelling: Spelling | None = None, data_file: str = "", pass_data: str = ""
) -> str:
    """The whole test: the model lowers, and the one pass does what it should.

    ``data_file`` and ``pass_data`` name the ``.safetensors`` files of the two scripts.
    """
    source = write_source(finding.case, spelling, data_file)
    imports, lower = lower_function(finding.case.recipe, source)
    run_imports, run = run_function(finding.case)
    needed = {*source.imports, *imports, *run_imports, "import unittest"}
    parts, methods = [source.body, lower, run], [_end_to_end(finding)]
    if finding.oracle:
        check = CHECKS[finding.oracle]
        needed |= set(check.IMPORTS)
        parts.append(check.SOURCE.rstrip())
    elif finding.failure.kind is Kind.PROPERTY:
        assert finding.case.recipe.asked is not None
        more, function = property_function(finding.case.recipe.asked)
        needed |= more
        parts.append(function)
    elif finding.failure.kind is Kind.WRONG:
        parts.append(numbers_function(finding).rstrip())
    elif finding.failure.kind.ends_process:
        needed |= {"import subprocess", "import sys", "from pathlib import Path"}
    if finding.pass_level is not None and finding.pass_level.shown:
        level = finding.at_pass_level()
        found = write_pass(level, pass_data)
        needed |= found.imports
        alone = found.run
        if level.oracle and level.oracle == finding.oracle:  # its check is there already
            alone = alone.removeprefix(CHECKS[level.oracle].LOOK.rstrip()).lstrip()
        parts += [found.graph, alone]
        methods.append(_pass_alone(level))
    test = "class TestRepro(unittest.TestCase):\n" + "\n\n".join(methods)
    parts += [test, 'if __name__ == "__main__":\n    unittest.main()\n']
    standard, others = import_blocks(needed)
    head = [*header(finding), *standard, "", *others, "", ""]
    return "\n".join(head) + "\n" + "\n\n\n".join(part for part in parts if part)


def _end_to_end(finding: Finding) -> str:
    function, failure = entry(finding.case.recipe), finding.failure
    does = {"export": "exports", "quantize": "quantizes", "forward": "runs", "lower": "lowers"}
    name = f"it_{does.get(function, 'runs')}"
    if failure.kind is Kind.PROPERTY:
        assert finding.case.recipe.asked is not None
        return (
            "    def test_it_lowers_as_it_should(self):\n"
            f"        self.assertFalse({question(finding.case.recipe.asked)})"
        )
    if failure.kind is Kind.WRONG:
        return "    def test_the_numbers_are_those_of_eager(self):\n        check()"
    if failure.kind.ends_process:
        return _IN_A_PROCESS.format(name=name, function=function, seconds=_seconds(failure))
    if not finding.oracle:
        return f"    def test_{name}(self):\n        {function}()"
    return f"""\
    def test_no_pass_breaks_{_word(finding.oracle)}(self):
        broken = watch()
        lower()
        self.assertEqual(broken, [])"""


def _pass_alone(level: Finding) -> str:
    call = level.case.recipe.alone
    assert call is not None
    name = _snake(call.name)
    if not level.oracle:
        return f"    def test_{name}_runs(self):\n        run_pass()"
    return f"""\
    def test_{name}_keeps_{_word(level.oracle)}(self):
        before, after = run_pass()
        {CHECKS[level.oracle].ASSERTION}"""


def _seconds(failure: Failure) -> int:
    if failure.kind is not Kind.HANGS:
        return _LONGEST
    return max(_SHORTEST, round(_SLOWER * failure.allowed))


def _word(name: str) -> str:
    return name.replace("-", "_")


def _snake(name: str) -> str:
    """
    >>> _snake("FuseBatchNormPass"), _snake("remove_noop_pass")
    ('fuse_batch_norm_pass', 'remove_noop_pass')
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_")
