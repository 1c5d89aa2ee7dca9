"""What is asked of a lowered program, where lowering does not raise and something is wrong all the same?

A :class:`Property` is the source of a function ``interesting``: a user's file, a command, or one that
is built in. All have one form, so what searches, emits and records knows no other.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from reducer.core.python_source import is_main_guard
from reducer.core.stage import Stage

FUNCTION = "interesting"

#: The reason where the function returns no more than True.
UNTOLD = "it is interesting"


@dataclass(frozen=True)
class Property:
    """``source`` defines ``interesting(program)``, which returns a reason (or True) if the property holds.

    With a parameter called ``edge`` it is given the ``EdgeProgramManager``, else what ``to_executorch``
    returns. As ``interesting(exported, lower)`` it is given the exported program and a function that
    lowers one, up to ``to_executorch``, with new partitioners and passes each time. ``name`` is how it is
    told; ``title`` the kind of failure.
    """

    name: str
    source: str
    title: str = "Interesting"

    @property
    def stage(self) -> Stage:
        """The stage after which it is asked."""
        return Stage.PREPROCESS if _parameters(self.source)[0] == "edge" else Stage.TO_EXECUTORCH

    @property
    def lowers(self) -> bool:
        """Whether it lowers the program itself, as often as it wants."""
        return _parameters(self.source)[0] == _UNLOWERED


def problem(source: str) -> str:
    """Why a source is none of a property, or "".

    >>> problem("def interesting(program):\\n    return len(program.buffer) > 1000")
    ''
    >>> problem("x = 1")
    'it defines no function interesting(program)'
    """
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        return f"it is not Python: {error}"
    if taken := _RESERVED & _names(module):
        return f"it defines {', '.join(sorted(taken))}, which the scripts call something else"
    parameters = _parameters(source)
    if parameters[:1] == (_UNLOWERED,) and len(parameters) != 2:
        return f"{FUNCTION}({_UNLOWERED}) needs a second parameter, the function that lowers"
    return "" if parameters else f"it defines no function {FUNCTION}(program)"


def embedded(source: str) -> tuple[str, ...]:
    """The source as a script repeats it: the lines of its imports, and the rest as last item.

    Its docstring and what runs only when it is the main program are left out.
    """
    module = ast.parse(source)
    body = list(module.body)
    if ast.get_docstring(module) is not None:
        body = body[1:]
    imports = [item for item in body if isinstance(item, ast.Import | ast.ImportFrom)]
    future = [item for item in imports if getattr(item, "module", "") == "__future__"]
    rest = [item for item in body if item not in imports and not is_main_guard(item)]
    lines = source.splitlines()
    parts = ["\n".join(lines[_first(item) - 1 : item.end_lineno]) for item in rest]
    told = [ast.unparse(item) for item in imports if item not in future]
    return (*told, "\n\n\n".join(parts))


def _first(item: ast.stmt) -> int:
    """The line where a statement begins, its decorators included."""
    decorators: list[ast.expr] = getattr(item, "decorator_list", [])
    return min([item.lineno, *(found.lineno for found in decorators)])


def _parameters(source: str) -> tuple[str, ...]:
    """The names of the function's parameters; none if there is no such function."""
    for item in ast.parse(source).body:
        if isinstance(item, ast.FunctionDef) and item.name == FUNCTION:
            return tuple(found.arg for found in [*item.args.posonlyargs, *item.args.args])
    return ()


def _names(module: ast.Module) -> set[str]:
    """What a module defines at its top level, imports left out."""
    found: set[str] = set()
    for item in module.body:
        if isinstance(item, ast.FunctionDef | ast.ClassDef):
            found.add(item.name)
        for part in ast.walk(item) if isinstance(item, ast.Assign | ast.AnnAssign) else ():
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                found.add(part.id)
    return found


#: The parameter of a function that is given the program before it is lowered.
_UNLOWERED = "exported"

#: Names that the emitted scripts use for something else.
_RESERVED = frozenset(
    {"Repro", "TestRepro", "export", "lower", "run", "check", "model", "example_inputs", "check_inputs",
     "dynamic_shapes", "is_recorded", "torch", "sys", "unittest"}
)  # fmt: skip
