"""How does a script tell whether a process of its own ends as the one of record did?

For what leaves nothing behind in the process that could be asked: a death, a hang, memory that runs
out, and the runtime's log, which says on stderr what Python's exception does not.
"""

from __future__ import annotations

import re

from reducer.core.finding import Finding
from reducer.core.kind import Kind
from reducer.core.signature import raise_site
from reducer.emit.literal import text
from reducer.emit.run_function import entry

_CHECK = """\
def is_recorded(process):
    return {condition}


if __name__ == "__main__":
    if "--expect-failure" not in sys.argv:
{action}
        sys.exit()
    command = [sys.executable, __file__]
    process = subprocess.run(command, capture_output=True, text=True, errors="replace")
    print(process.stderr[-4000:])
    sys.exit(0 if is_recorded(process) else 2 if process.returncode else 1)
"""

_MEMORY = """\
#: Bytes; importing torch and executorch takes less than one GiB of it.
LIMIT = {limit}


def resident(process):
    return int(Path(f"/proc/{{process.pid}}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    if "--expect-failure" not in sys.argv:
        {entry}()
        sys.exit()
    process = subprocess.Popen([sys.executable, __file__])
    while process.poll() is None:
        if resident(process) > LIMIT:
            process.kill()
            sys.exit(0)
        time.sleep(0.05)
    sys.exit(2 if process.returncode else 1)
"""

#: A fresh process is slower than the one in which a limit was learned.
_SLOWER, _SHORTEST = 2, 30
_GIB = 2**30


def process_check(finding: Finding, words: tuple[str, ...]) -> tuple[set[str], str]:
    """Import lines, and the part of the script below what fails; ``words`` are those of the message."""
    failure, function = finding.failure, entry(finding.case.recipe)
    imports = {"import subprocess", "import sys"}
    if failure.kind is Kind.MEMORY:
        gib = -(-int(failure.allowed) // _GIB) + 1
        body = _MEMORY.format(limit=f"{gib} << 30", entry=function)
        return imports | {"import os", "import time", "from pathlib import Path"}, body
    action = [f"{function}()"]
    if failure.kind is Kind.HANGS:
        imports.add("import faulthandler")
        seconds = max(_SHORTEST, round(_SLOWER * failure.allowed))
        action.insert(0, f"faulthandler.dump_traceback_later({seconds}, exit=True)")
        tests = ['"Timeout (" in process.stderr', *_place(finding)]
    elif failure.kind is Kind.DIES:
        tests = [f"process.returncode == {_code(failure.chain[0].type)}"]
        if "signal." in tests[0]:
            imports.add("import signal")
            if place := _place(finding):
                imports.add("import faulthandler")
                action.insert(0, "faulthandler.enable()")
                tests += place
    else:
        kind = failure.chain[0].type.rpartition(".")[2]
        tests = ["process.returncode == 1", f"{text(kind)} in process.stderr"]
    if finding.rule.level == "exact" and failure.kind is not Kind.HANGS and not _place(finding):
        tests += [f"{text(part)} in process.stderr" for part in words]
    condition = tests[0]
    if len(tests) > 1:
        rows = [f"        {tests[0]}", *(f"        and {test}" for test in tests[1:])]
        condition = "\n".join(["(", *rows, "    )"])
    shown = "\n".join(f"        {line}" for line in action)
    return imports, _CHECK.format(condition=condition, action=shown)


def _code(kind: str) -> str:
    """How ``subprocess`` tells the end of a process of this kind."""
    exited = re.fullmatch(r"ExitCode(\d+)", kind)
    return exited[1] if exited else f"-signal.{kind}"


def _place(finding: Finding) -> list[str]:
    """What the dumped stack must hold: the innermost call that was seen to stand still."""
    site = raise_site(finding.failure.chain[-1])
    if not site or finding.rule.level == "type":
        return []
    return [f'"in {site.partition(":")[2]}\\n" in process.stderr']
