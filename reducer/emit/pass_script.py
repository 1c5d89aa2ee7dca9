"""What does the script look like that shows a failure with one pass, on a graph made by hand?

No backend is lowered to, nothing is exported, there is no model.
"""

from __future__ import annotations

from dataclasses import dataclass

from reducer.core.finding import Finding
from reducer.core.recipe import THE_PROGRAM, Construct, PassCall, Plain
from reducer.emit.construct import Imports, construct_text
from reducer.emit.failure_check import HOOK, failure_check
from reducer.emit.invariant_checks import CHECKS
from reducer.emit.layout import wrap
from reducer.emit.literal import text
from reducer.emit.pass_graph import write_pass_graph
from reducer.emit.repro_script import import_blocks, pass_header

_MAIN = """\
if __name__ == "__main__":
    before, after = run_pass()
    print(f"{told}")
    broken = is_broken(before, after)
    if "--expect-failure" in sys.argv:
        sys.exit(0 if broken else 1)
    if broken:
        sys.exit({what})
"""


@dataclass(frozen=True)
class PassSource:
    """The parts of a script about one pass: import lines, ``build()``, and ``run_pass()`` with its check."""

    imports: frozenset[str]
    graph: str
    run: str
    stored: dict[str, str]


def render_pass(finding: Finding, data_file: str = "") -> str:
    """The whole script of a finding whose case runs one pass. Raises NotHandled.

    ``data_file`` as in :func:`reducer.emit.repro_script.render`.
    """
    source = write_pass(finding, data_file)
    if finding.oracle:
        message = f"after {_call(finding).name}: {finding.failure.chain[-1].message}"
        main = _MAIN.format(told=CHECKS[finding.oracle].TOLD, what=text(message))
        imports, check = {"import sys"}, main
    else:
        imports, check = failure_check(finding, "run_pass")
    standard, others = import_blocks({*source.imports, *imports})
    head = [*pass_header(finding), *standard, "", HOOK, *others, "", ""]
    return "\n".join(head) + "\n" + "\n\n\n".join([source.graph, source.run, check])


def write_pass(finding: Finding, data_file: str = "") -> PassSource:
    """The graph, and the function ``run_pass()``; with an oracle it gives what is seen before and after."""
    call = _call(finding)
    of_program = bool(finding.oracle) and CHECKS[finding.oracle].OF_PROGRAM
    program = call.needs_program or of_program
    graph = write_pass_graph(finding.case, program=program, data_file=data_file)
    imports = Imports(("torch", "build", "run_pass", "look", "is_broken", "sys"))
    lines = ["def run_pass():", *_prepare(call, imports, program=program)]
    run = f"{_made(call, imports)}({'program' if call.takes == 'program' else 'graph_module'})"
    if not finding.oracle:
        lines += wrap(f"    return {run}")
        found = "\n".join(lines)
        return PassSource(
            frozenset({*graph.imports, *imports.lines}), graph.body, found, dict(graph.stored)
        )
    check = CHECKS[finding.oracle]
    lines += [f"    before = look({'program' if of_program else 'graph_module'})"]
    lines += wrap(f"    result = {run}")
    left = _left(call)
    lines += wrap(f"    return before, look({'program, ' if of_program else ''}{left})")
    found = check.LOOK.rstrip() + "\n\n\n" + "\n".join(lines)
    needed = {*graph.imports, *imports.lines, *check.LOOK_IMPORTS}
    return PassSource(frozenset(needed), graph.body, found, dict(graph.stored))


def _call(finding: Finding) -> PassCall:
    call = finding.case.recipe.alone
    assert call is not None
    return call


def _prepare(call: PassCall, imports: Imports, *, program: bool) -> list[str]:
    lines = ["    graph_module = build()"]
    for item in call.after:
        lines += wrap(
            f"    graph_module = {construct_text(item, imports)}(graph_module).graph_module"
        )
    if program:
        lines += ["    program = program_around(graph_module)"]
        if call.needs_program:
            lines += ["    graph_module = program.graph_module"]
    return lines


def _made(call: PassCall, imports: Imports) -> str:
    """The pass as an expression; the program among its arguments by the variable's name."""
    construct = call.construct
    if not construct.call:
        return construct_text(construct, imports)

    def shown(value: Plain) -> str:
        return "program" if value == THE_PROGRAM else construct_text(value, imports)

    args = [shown(value) for value in construct.args]
    args += [f"{key}={shown(value)}" for key, value in construct.kwargs]
    name = construct_text(Construct(construct.path, call=False), imports)
    return f"{name}({', '.join(args)})"


def _left(call: PassCall) -> str:
    """The graph that the pass leaves, as an expression."""
    if call.takes == "program":
        return 'getattr(result, "exported_program", program).graph_module'
    if call.construct.call:
        return "result.graph_module"
    return 'getattr(result, "graph_module", graph_module)'
