"""Which property is it, that a command says yes to the ``.pte``? Exit code 0, as for Shrink Ray."""

from __future__ import annotations

import shlex

from reducer.core.property import Property

#: What stands for the path of the ``.pte`` in a command.
PLACE = "{pte}"

_SOURCE = '''\
COMMAND = {command}
{script}

def interesting(program):
    """Run the command on the .pte: 0 means yes, 1 to 124 no; anything else, that it cannot tell."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.pte")
        path.write_bytes(program.buffer)
{first}        command = [part.replace("{{pte}}", str(path)) for part in {run}]
        code = subprocess.run(command).returncode
    if not 0 <= code < 125:
        raise RuntimeError(f"{{shlex.join(COMMAND)}} ends with {{code}}")
    return f"{{shlex.join(COMMAND)}} exits with 0" if code == 0 else False
'''

_IMPORTS = "import shlex\nimport subprocess\nimport tempfile\nfrom pathlib import Path\n\n"
_FIRST = """\
        script = Path(folder, "oracle")
        script.write_text(SCRIPT)
        script.chmod(0o700)
"""


def of_command(command: str) -> Property:
    """A command line, without a shell; ``{pte}`` in it is the path, else that comes last.

    Raises ValueError for quotes that are not closed.
    """
    parts = shlex.split(command)
    if PLACE not in command:
        parts.append(PLACE)
    source = _SOURCE.format(command=repr(parts), script="", first="", run="COMMAND")
    return Property("oracle-command", _IMPORTS + source)


def of_script(name: str, content: str) -> Property:
    """An executable file that is text: what it says goes into the source, so that it is not needed."""
    source = _SOURCE.format(
        command=repr([name, PLACE]),
        script=f"SCRIPT = {content!r}\n",
        first=_FIRST,
        run="[str(script), *COMMAND[1:]]",
    )
    return Property("oracle", _IMPORTS + source)
