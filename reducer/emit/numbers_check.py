"""How does a script tell that the ``.pte`` returns wrong numbers? An explicit assertion against eager."""

from __future__ import annotations

from reducer.core.finding import Finding
from reducer.core.signature import CLEAR_EXCESS

_CHECK = """\
def check():
    expected = torch.utils._pytree.tree_leaves(model(*example_inputs))
    for actual, wanted in zip(run()[-len(expected) :], expected):
{assertion}
"""

_CHECKS = """\
def check():
    for inputs, outputs in zip([example_inputs, *check_inputs], run()):
        expected = torch.utils._pytree.tree_leaves(model(*inputs))
        for actual, wanted in zip(outputs[-len(expected) :], expected):
{assertion}
"""

_MAIN = """\

if __name__ == "__main__":
    try:
        check()
    except AssertionError:
        if "--expect-failure" not in sys.argv:
            raise
        sys.exit(0)
    sys.exit(1 if "--expect-failure" in sys.argv else 0)
"""

#: By a phrase of the message: the assertion that does not hold.
_ASSERTIONS = (
    ("another shape", ["assert actual.shape == wanted.shape, (actual.shape, wanted.shape)"]),
    ("another dtype", ["assert actual.dtype == wanted.dtype, (actual.dtype, wanted.dtype)"]),
    ("has nan", ["assert not (actual.isnan() & ~wanted.isnan()).any(), actual"]),
    ("has infinity", ["assert not (actual.isinf() & ~wanted.isinf()).any(), actual"]),
    ("numbers where nan", ["assert not (actual.isfinite() & ~wanted.isfinite()).any(), actual"]),
)


def numbers_check(finding: Finding) -> tuple[set[str], str]:
    """Import lines, and the part of the script below ``run()``."""
    return {"import sys"}, f"{numbers_function(finding)}\n\n{_MAIN.lstrip()}"


def numbers_function(finding: Finding) -> str:
    """The function ``check()``, which asserts that the numbers are right."""
    message = finding.failure.chain[0].message
    lines = next((lines for phrase, lines in _ASSERTIONS if phrase in message), None)
    if lines is None:
        lines = [
            "difference = (actual - wanted).abs().max()",
            f"assert difference <= {_bound(finding)}, (difference, actual, wanted)",
        ]
    whole, indent = (_CHECKS, 12) if finding.case.checks else (_CHECK, 8)
    shown = "\n".join(f"{' ' * indent}{line}" for line in lines)
    return whole.format(assertion=shown)


def _bound(finding: Finding) -> str:
    """A round number well above what rounding explains and well below what was seen."""
    failure = finding.failure
    times = CLEAR_EXCESS if failure.excess >= 2 * CLEAR_EXCESS else max(1.0, failure.excess / 2)
    return f"{failure.allowed * times:.1g}"
