"""How does a script tell that what it lowers to has the property? By the oracle's own source, repeated."""

from __future__ import annotations

from reducer.core.finding import Finding
from reducer.core.property import FUNCTION, UNTOLD, Property, embedded
from reducer.emit.literal import text

_MAIN = """\
if __name__ == "__main__":
    reason = {question}
    if "--expect-failure" in sys.argv:
        sys.exit(1 if not reason else 0 if {recorded} else 2)
    sys.exit({told})
"""


def property_check(finding: Finding, words: tuple[str, ...]) -> tuple[set[str], str]:
    """Import lines, and the part of the script below the lowering; ``words`` are those of the reason."""
    imports, function = property_function(_asked(finding))
    rule, recorded = finding.rule, "True"
    if rule.regex:
        imports.add("import re")
        recorded = f"re.search({text(rule.regex)}, str(reason))"
    elif rule.level == "exact" and finding.failure.chain[0].message != UNTOLD:
        recorded = " and ".join(f"{text(part)} in str(reason)" for part in words) or "True"
    told = f'f"{finding.failure.chain[0].type}: {{reason}}" if reason else 0'
    main = _MAIN.format(question=question(_asked(finding)), recorded=recorded, told=told)
    return {"import sys", *imports}, f"{function}\n\n\n{main}"


def question(asked: Property) -> str:
    """The call that asks for the property, in a script's words."""
    return f"{FUNCTION}(export(), lower)" if asked.lowers else f"{FUNCTION}(lower())"


def property_function(asked: Property) -> tuple[set[str], str]:
    """Import lines, and the function ``interesting`` with what else its source defines."""
    *imports, function = embedded(asked.source)
    return set(imports), function.strip("\n")


def _asked(finding: Finding) -> Property:
    asked = finding.case.recipe.asked
    assert asked is not None
    return asked
