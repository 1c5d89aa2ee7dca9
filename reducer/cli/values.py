"""What does the text of an option mean? Raises BadInput for text that means nothing."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reducer.core.diagnosis import INVARIANTS
from reducer.core.errors import BadInput
from reducer.core.property import Property, problem
from reducer.core.recipe import Items, Plain
from reducer.core.signature import MATCH_LEVELS, MatchRule
from reducer.emit.properties import PROPERTIES
from reducer.emit.properties.command import of_command, of_script

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(h|min|m|s|)")


def seconds(text: str, option: str) -> float:
    """Seconds in ``600``, ``90s``, ``10m``, ``1h30m``.

    >>> seconds("1h30m", "--budget"), seconds("0.5", "--timeout")
    (5400.0, 0.5)
    """
    compact = re.sub(r"\s+", "", text.lower())
    parts = _PART.findall(compact)
    found = sum(float(number) * _UNITS[unit] for number, unit in parts)
    whole = "".join(number + unit for number, unit in parts) == compact
    if not whole or not 0 < found < math.inf:
        raise BadInput(
            f"{option} {text!r} is no length of time", hint="for example 600, 90s, 10m or 1h30m"
        )
    return found


def tolerance(number: float | None, option: str) -> float | None:
    """A tolerance as given. Raises BadInput for what is none.

    >>> tolerance(1e-3, "--rtol"), tolerance(None, "--rtol")
    (0.001, None)
    """
    if number is None or (math.isfinite(number) and number >= 0):
        return number
    raise BadInput(f"{option} {number} is no tolerance", hint="a number from 0 on, as in 1e-3")


def options(texts: Sequence[str]) -> tuple[tuple[str, Plain], ...]:
    """Backend options in order, from ``key=value`` texts and JSON objects; the last value counts.

    >>> options(["small=true", "name=fast", '{"levels": [1, 2]}'])
    (('small', True), ('name', 'fast'), ('levels', Items(kind='list', items=(1, 2))))
    """
    found: dict[str, Plain] = {}
    for text in texts:
        if text.lstrip().startswith("{"):
            found.update(_json_object(text))
            continue
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise BadInput(
                f"--backend-option {text!r} is not of the form key=value",
                hint="for example -O require_dynamic_shapes=true, or a JSON object in quotes",
            )
        found[key.strip()] = _value(value)
    return tuple(found.items())


def plain(value: Any) -> Plain:
    """What ``json.loads`` gave, as constructor arguments."""
    if isinstance(value, list):
        return Items("list", tuple(plain(item) for item in value))
    if isinstance(value, dict):
        return Items("dict", tuple((key, plain(item)) for key, item in value.items()))
    return value  # type: ignore[no-any-return]


def match_rule(level: str | None, regex: str | None) -> MatchRule:
    """The rule of ``--match`` and ``--match-regex``, of which one at most is given."""
    if level is not None and level not in MATCH_LEVELS:
        raise BadInput(f"--match {level!r} is unknown", hint=f"one of {', '.join(MATCH_LEVELS)}")
    if regex is None:
        return MatchRule(level or MATCH_LEVELS[0])
    if level is not None:
        raise BadInput("--match and --match-regex exclude each other", hint="leave one of them out")
    try:
        re.compile(regex)
    except re.error as error:
        raise BadInput(
            f"--match-regex {regex!r} is not a regular expression: {error}",
            hint="special characters are taken literally after a backslash",
        ) from error
    if not regex:
        raise BadInput("--match-regex is empty", hint="give part of the message that counts")
    return MatchRule(regex=regex)


def oracle(name: str | None, option: str = "--oracle") -> str:
    """The invariant that an option names; "" if none is given."""
    if name is not None and name not in INVARIANTS:
        raise BadInput(f"{option} {name!r} is unknown", hint=f"one of {', '.join(INVARIANTS)}")
    return name or ""


def asked(file: str | None, command: str | None, built_in: str = "") -> tuple[str, Property | None]:
    """What counts as the failure: the name of an invariant, or else a property; at most one is given.

    ``file`` is what ``--oracle`` was given, be it a name; ``built_in`` the name of a property that has
    an option.
    """
    given = [bool(file), bool(command), bool(built_in)]
    if sum(given) > 1:
        raise BadInput(
            "--oracle, --oracle-command and --expect-delegated exclude each other",
            hint="ask one question at a time",
        )
    if built_in:
        return "", PROPERTIES[built_in]
    if command:
        try:
            return "", of_command(command)
        except ValueError as error:
            raise BadInput(f"--oracle-command {command!r}: {error}") from error
    if file is None or file in INVARIANTS:
        return file or "", None
    if file in PROPERTIES:
        return "", PROPERTIES[file]
    return "", _of_file(Path(file), file)


def _of_file(path: Path, given: str) -> Property:
    """The property that a Python file defines, or that an executable one says yes to."""
    if not path.is_file():
        raise BadInput(
            f"--oracle {given!r} is no file, no invariant and no property",
            hint=f"a Python file with interesting(program), an executable file, or one of"
            f" {', '.join([*INVARIANTS, *PROPERTIES])}",
        )
    try:
        content = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise BadInput(
            f"--oracle {given!r} cannot be read as text: {error}",
            hint="run a program that is no script with --oracle-command",
        ) from error
    if path.suffix != ".py":
        if not os.access(path, os.X_OK):
            raise BadInput(
                f"--oracle {given!r} is neither executable nor a .py file", hint="chmod +x it"
            )
        return of_script(path.name, content)
    if wrong := problem(content):
        raise BadInput(
            f"--oracle {given!r}: {wrong}",
            hint="for example: def interesting(program): return len(program.buffer) > 1_000_000",
        )
    return Property("oracle", content)


def interpreter(text: str, option: str = "--python") -> str:
    """The Python that is to run torch, as an absolute path where it is found by its name."""
    found = shutil.which(text)
    if found is None:
        raise BadInput(f"{option} {text!r} cannot be run", hint="give the path of an interpreter")
    return os.path.abspath(found)  # symbolic links stay: they say whose packages it has


def modules(texts: Sequence[str]) -> tuple[tuple[str, Path], ...]:
    """Modules and the files that are to be them.

    >>> modules(["executorch.exir.pass_base=fixed.py"])
    (('executorch.exir.pass_base', PosixPath('fixed.py')),)
    """
    found = []
    for text in texts:
        name, equals, path = text.partition("=")
        if not (equals and name.strip() and path.strip()):
            raise BadInput(
                f"--patch-module {text!r} is not of the form NAME=FILE",
                hint="for example executorch.exir.pass_base=fixed.py",
            )
        found.append((name.strip(), Path(path.strip())))
    return tuple(found)


def _value(text: str) -> Plain:
    """JSON if it is that, else the text itself."""
    try:
        return plain(json.loads(text))
    except json.JSONDecodeError:
        return text


def _json_object(text: str) -> dict[str, Plain]:
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadInput(
            f"--backend-option {text!r} is not JSON: {error}",
            hint="write key=value, or an object such as '{\"key\": true}'",
        ) from error
    return {key: plain(value) for key, value in found.items()}
