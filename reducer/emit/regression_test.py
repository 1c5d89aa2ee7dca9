"""What does the test look like that fails today and passes once it is mended?

In the style of ExecuTorch's own tests: a ``unittest`` class, run by pytest. It stands by itself; beside
it are needed only the tensors of the repro, if that has any.
"""

from __future__ import annotations

import re

from reducer.core.finding import Finding
from reducer.emit.invariant_checks import CHECKS
from reducer.emit.pass_script import write_pass
from reducer.emit.repro_script import header, import_blocks, lower_function
from reducer.emit.source import write_source
from reducer.emit.spelling import Spelling


def render_test(
    finding: Finding, spelling: Spelling | None = None, data_file: str = "", pass_data: str = ""
) -> str:
    """The whole test: the model lowers, and the one pass does what it should.

    ``data_file`` and ``pass_data`` name the ``.safetensors`` files of the two scripts.
    """
    source = write_source(finding.case, spelling, data_file)
    imports, lower = lower_function(finding.case.recipe, source)
    needed = {*source.imports, *imports, "import unittest"}
    parts, methods = [source.body, lower], [_end_to_end(finding)]
    if finding.oracle:
        check = CHECKS[finding.oracle]
        needed |= set(check.IMPORTS)
        parts.append(check.SOURCE.rstrip())
    if finding.pass_level is not None and finding.pass_level.shown:
        level = finding.at_pass_level()
        found = write_pass(level, pass_data)
        needed |= found.imports
        run = found.run
        if level.oracle and level.oracle == finding.oracle:  # its check is there already
            run = run.removeprefix(CHECKS[level.oracle].LOOK.rstrip()).lstrip()
        parts += [found.graph, run]
        methods.append(_pass_alone(level))
    test = "class TestRepro(unittest.TestCase):\n" + "\n\n".join(methods)
    parts += [test, 'if __name__ == "__main__":\n    unittest.main()\n']
    standard, others = import_blocks(needed)
    head = [*header(finding), *standard, "", *others, "", ""]
    return "\n".join(head) + "\n" + "\n\n\n".join(parts)


def _end_to_end(finding: Finding) -> str:
    if not finding.oracle:
        return "    def test_it_lowers(self):\n        lower()"
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


def _word(name: str) -> str:
    return name.replace("-", "_")


def _snake(name: str) -> str:
    """
    >>> _snake("FuseBatchNormPass"), _snake("remove_noop_pass")
    ('fuse_batch_norm_pass', 'remove_noop_pass')
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_")
