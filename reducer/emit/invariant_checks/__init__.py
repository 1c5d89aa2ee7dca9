"""How does a script tell, by itself, that a compiler pass breaks an invariant?

One file per invariant, the text of a check that needs nothing but torch and executorch. ``IMPORTS`` are
its import lines; ``SOURCE`` defines ``watch()``, which puts the check behind every pass that it can see
and returns the list to which the names of passes are added after which it fails. ``LOOK`` (with
``LOOK_IMPORTS``) is the part for a graph that is at hand: ``look()`` and ``is_broken(before, after)``;
``TOLD`` says in an f-string what was seen, ``ASSERTION`` what a test demands.

These checks look through fewer windows than the worker: at passes that are classes (``same-numbers``: at
what exir's pass manager runs). A fault of a plain function is not seen by them.
"""

from __future__ import annotations

from types import ModuleType

from reducer.core.finding import Finding
from reducer.emit.invariant_checks import (
    metadata,
    one_fake_mode,
    same_numbers,
    shared_state,
    well_formed,
)
from reducer.emit.literal import text

CHECKS: dict[str, ModuleType] = {
    module.NAME: module
    for module in (one_fake_mode, metadata, well_formed, same_numbers, shared_state)
}

_MAIN = """\
if __name__ == "__main__":
    broken = watch()
    try:
        lower()
    except Exception:
        if not broken:
            raise
    if "--expect-failure" in sys.argv:
        sys.exit(0 if {recorded} else 2 if broken else 1)
    if broken:
        sys.exit(f"after {{broken[0]}}: " + {what})
"""


def invariant_check(finding: Finding) -> tuple[set[str], str]:
    """Import lines, and the part of the script below the lowering."""
    check = CHECKS[finding.oracle]
    recorded = "broken"
    if finding.rule.level == "exact" and not finding.rule.regex and finding.failure.passes:
        recorded = f"{text(finding.failure.passes[0])} in broken"
    main = _MAIN.format(recorded=recorded, what=text(finding.failure.chain[-1].message))
    return {"import sys", *check.IMPORTS}, f"{check.SOURCE}\n\n{main}"
