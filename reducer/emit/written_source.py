"""How does a source that was made by edits look as a formatter would leave it?"""

from __future__ import annotations

import ast
import tokenize

from reducer.emit.layout import wrap


def written_source(source: str) -> tuple[tuple[str, ...], str]:
    """The lines of its imports, and the rest."""
    tree = ast.parse(source)
    imports = [item for item in tree.body if isinstance(item, ast.Import | ast.ImportFrom)]
    lines: list[str] = []
    for statement in tree.body:
        if statement in imports:
            continue
        block = isinstance(statement, ast.FunctionDef | ast.ClassDef)
        if lines and block:
            lines = [*_tidy_end(lines), "", ""]
        text = _double_quoted(_spaced(statement))
        lines += [row for line in text for row in wrap(line)]
        lines += ["", ""] if block else []
    texts = {line for item in imports for line in _import_lines(item)}
    return tuple(sorted(texts)), "\n".join(_tidy_end(lines))


def _spaced(statement: ast.stmt) -> list[str]:
    """A statement's lines; methods have a blank line between them."""
    if not isinstance(statement, ast.ClassDef):
        return ast.unparse(statement).splitlines()
    lines: list[str] = []
    for line in ast.unparse(statement).splitlines():
        if line or not lines[-1].endswith(":"):  # the first definition follows without one
            lines.append(line)
    return lines


def _double_quoted(lines: list[str]) -> list[str]:
    """The lines with strings in the quotes that a formatter gives them.

    >>> print(*_double_quoted(["f('a', 1)"]))
    f("a", 1)
    """
    found = list(lines)
    tokens = tokenize.generate_tokens(iter([f"{line}\n" for line in lines]).__next__)
    for token in reversed(list(tokens)):
        plain = token.type == tokenize.STRING and token.start[0] == token.end[0]
        if plain and token.string[0] == "'" and not {'"', "\\"} & set(token.string):
            row, (start, end) = token.start[0] - 1, (token.start[1], token.end[1])
            line = found[row]
            found[row] = f'{line[:start]}"{token.string[1:-1]}"{line[end:]}'
    return found


def _tidy_end(lines: list[str]) -> list[str]:
    """Lines without blank ones at the end."""
    while lines and not lines[-1]:
        lines = lines[:-1]
    return lines


def _import_lines(statement: ast.Import | ast.ImportFrom) -> list[str]:
    """One line for each name: they are put together again where all are known."""
    if isinstance(statement, ast.Import):
        return [ast.unparse(ast.Import([name])) for name in statement.names]
    names = statement.names
    return [
        ast.unparse(ast.ImportFrom(statement.module, [name], statement.level)) for name in names
    ]
