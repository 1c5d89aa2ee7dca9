"""How does a script tell, by itself, whether its failure is the one of record?

The check looks at what :mod:`reducer.core.signature` looks at: exception types along the chain of
causes, where the innermost one was raised, which compiler pass was running, and the fixed words of
its message.
"""

from __future__ import annotations

import re

from reducer.core.finding import Finding
from reducer.core.kind import Kind
from reducer.core.signature import normalise_message
from reducer.emit.expression import tuple_text
from reducer.emit.invariant_checks import invariant_check
from reducer.emit.layout import WIDTH
from reducer.emit.literal import text
from reducer.emit.numbers_check import numbers_check
from reducer.emit.process_check import process_check
from reducer.emit.property_check import property_check
from reducer.emit.run_function import entry

#: Put before the imports of libraries, which may fail as well.
HOOK = """\
if "--expect-failure" in sys.argv:  # what breaks outside the check is no pass
    sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(2))
"""

#: Between the items of a printed set, whose order is another in each process.
_SET = re.compile(r"\{(?=')|(?<='), (?=')|(?<=')\}")
_PLACEHOLDER = re.compile(r"<[a-z][a-z ]*>")
#: Words whose number at the end is not part of the signature: they stand alone.
_NUMBERED = re.compile(r"\b((?:aten|getitem|quantized_decomposed|dim_order_ops)_\w*)")

#: How many parts of a message are compared at most, and how many characters of each.
_PARTS, _PART = 4, 72

_CHAIN = """\
def is_recorded(error):
    links = [error]
    while cause := links[-1].__cause__ or (
        None if links[-1].__suppress_context__ else links[-1].__context__
    ):
        links.append(cause)"""

_MAIN = """\
if __name__ == "__main__":
    if "--expect-failure" not in sys.argv:
        {run}()
        sys.exit()
    try:
        {run}()
    except Exception as error:
        traceback.print_exc()
        sys.exit(0 if is_recorded(error) else 2)
    sys.exit(1)  # it passes
"""


def failure_check(finding: Finding, run: str = "") -> tuple[set[str], str]:
    """Import lines, and the part of the script below the function ``run``, which is to fail.

    By default that of the recipe.
    """
    main = _MAIN.format(run=run or entry(finding.case.recipe))
    if finding.oracle:
        return invariant_check(finding)
    signature, rule = finding.signature, finding.rule
    if finding.failure.kind is Kind.WRONG:
        return numbers_check(finding)
    if finding.failure.kind is Kind.PROPERTY:
        return property_check(finding, fixed_words(signature.message))
    if finding.failure.kind.ends_process or entry(finding.case.recipe) == "run":
        return process_check(finding, longest_words(finding.failure.chain[-1].message))
    if rule.regex:
        pattern = _pattern(rule.regex)
        checks = [f"any(re.search({pattern}, str(link)) for link in links)"]
        return {"import re", "import sys", "import traceback"}, _whole([], checks, main)
    rows = []
    names = _list(tuple(name.rpartition(".")[2] for name in signature.types))
    checks = [f"[type(link).__name__ for link in links] == {names}"]
    if rule.level != "type":
        rows = [
            "    frames = [frame for frame, _ in traceback.walk_tb(links[-1].__traceback__)]",
            "    places = [f\"{f.f_globals.get('__name__')}:{f.f_code.co_name}\" for f in frames]",
        ]
        checks.append(f"{text(signature.raised_in)} in places")
    if rule.level == "exact":
        rows.append('    message = " ".join(str(links[-1]).split())')
        checks += [f"{text(words)} in message" for words in fixed_words(signature.message)]
        if signature.compiler_pass:
            name = signature.compiler_pass
            rows.append('    passes = [type(f.f_locals.get("self")).__name__ for f in frames]')
            checks.append(f"any({text(name)} in word for word in [*passes, str(error)])")
    return {"import sys", "import traceback"}, _whole(rows, checks, main)


def fixed_words(message: str) -> tuple[str, ...]:
    """The parts of a normalised message that are the same in each occurrence.

    >>> fixed_words("Could not guard on <symbol> < <n> (unhinted: <symbol>) of aten_add_tensor")
    ('Could not guard on', '(unhinted:', ') of', 'aten_add_tensor')
    >>> fixed_words("Missing out variants: {'aten::a', 'aten::b'}")
    ('Missing out variants:', "'aten::a'", "'aten::b'")
    """
    return _telling(message)[:_PARTS]


def longest_words(log: str) -> tuple[str, ...]:
    """The longest fixed parts within the lines of a log: its first ones are not the most telling.

    >>> longest_words("[op_add.cpp:7] Check failed\\n[method.cpp:3] in operator aten::add.out: 0x12")
    ('[op_add.cpp:', '] Check failed', '[method.cpp:', '] in operator aten::add.out:')
    """
    lines = [normalise_message(line) for line in log.splitlines()]
    parts = tuple(dict.fromkeys(part for line in lines for part in _telling(line)))
    chosen = sorted(parts, key=len, reverse=True)[:_PARTS]
    return tuple(part for part in parts if part in chosen)


def _telling(message: str) -> tuple[str, ...]:
    if len(message) >= 400:  # cut there, in the middle of a word or of a placeholder
        message = message.rpartition(" ")[0].rpartition("<")[0] or message[:380]
    parts = []
    for part in (piece for whole in _PLACEHOLDER.split(message) for piece in _SET.split(whole)):
        parts += [piece.strip() for piece in _NUMBERED.split(part)]
    telling = [part for part in parts if len(re.findall(r"[A-Za-z]", part)) >= 2]
    # A line's width of each of the first few parts is as telling as all of all.
    return tuple(dict.fromkeys(part[:_PART].rstrip() for part in telling))


def _whole(rows: list[str], checks: list[str], main: str) -> str:
    condition = f"    return {checks[0]}"
    if len(checks) > 1 or len(condition) > WIDTH:
        first, *rest = checks
        condition = "\n".join(
            ["    return (", f"        {first}", *(f"        and {row}" for row in rest), "    )"]
        )
    return "\n".join([_CHAIN, *rows, condition, "", "", main])


def _pattern(pattern: str) -> str:
    shown = text(pattern).replace("\\\\", "\\")
    plain = shown.startswith('"') and '"' not in pattern and not pattern.endswith("\\")
    return f"r{shown}" if plain and "\n" not in pattern else text(pattern)


def _list(items: tuple[str, ...]) -> str:
    shown = tuple_text([text(item) for item in items])
    return f"[{shown[1:-1].removesuffix(',')}]"
