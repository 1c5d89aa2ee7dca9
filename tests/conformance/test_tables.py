"""Is every file of a plugin folder in its table, and does every row say what it must? Without torch."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import reducer
from reducer.core.healthy import HEALTHY
from reducer.core.stage import REDUCIBLE

PACKAGE = Path(reducer.__file__).parent
#: folder: (name of the table in its ``__init__``, names that are no plugin)
TABLES = {
    "deltas": ("DELTAS", {"__init__"}),
    "lowering/stages": ("STAGES", {"__init__"}),
    "lowering/accelerations": ("ACCELERATIONS", {"__init__"}),
    "lowering/backends": ("NAMES", {"__init__", "backend"}),
}
STAGES = sorted(path.stem for path in PACKAGE.glob("lowering/stages/*.py") if path.stem[0] != "_")
ACCELERATIONS = sorted(
    path.stem for path in PACKAGE.glob("lowering/accelerations/*.py") if path.stem[0] != "_"
)


def parse(folder: str, name: str = "__init__") -> ast.Module:
    return ast.parse((PACKAGE / folder / f"{name}.py").read_text())


def assigned(module: ast.Module, name: str) -> ast.expr:
    """What a module assigns to ``name`` at its top level."""
    for statement in module.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            assert statement.value is not None  # type: ignore[union-attr]
            return statement.value  # type: ignore[union-attr, no-any-return]
    raise AssertionError(f"{name} is not assigned")


def names_in(module: ast.Module, table: str) -> set[str]:
    """Names that a table mentions, those of tables that it is put together from included."""
    found = set()
    for node in ast.walk(assigned(module, table)):
        if isinstance(node, ast.Name) and node.id.isupper():
            found |= names_in(module, node.id)
        elif isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Constant) and str(node.value).isidentifier():
            found.add(str(node.value))
    return found - {"cast", "str", "dict", "tuple"}


@pytest.mark.parametrize("folder", TABLES)
def test_every_file_is_in_its_table_and_every_row_is_a_file(folder: str) -> None:
    table, others = TABLES[folder]
    files = {path.stem for path in (PACKAGE / folder).glob("*.py")} - others
    assert names_in(parse(folder), table) == files


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_names_itself_and_its_frames(name: str) -> None:
    module = parse("lowering/stages", name)
    assert ast.unparse(assigned(module, "STAGE")) == f"Stage.{name.upper()}"
    frames = assigned(module, "FRAMES")
    pairs = [node for node in ast.walk(frames) if isinstance(node, ast.Tuple)]
    assert pairs
    for pair in pairs:
        library, function = (str(item.value) for item in pair.elts)  # type: ignore[attr-defined]
        assert library.startswith("executorch.")
        assert function.isidentifier()
    assert ast.get_docstring(module)


def test_every_reducible_stage_has_a_file() -> None:
    reached = set(STAGES) | {"compare"}  # which no function of ExecuTorch does
    assert {str(stage) for stage in REDUCIBLE} <= reached


def test_no_frame_belongs_to_two_stages() -> None:
    frames = [
        ast.unparse(pair)
        for name in STAGES
        for pair in ast.walk(assigned(parse("lowering/stages", name), "FRAMES"))
        if isinstance(pair, ast.Tuple)
    ]
    assert len(frames) == len(set(frames))


@pytest.mark.parametrize("name", ACCELERATIONS)
def test_an_acceleration_has_a_name_and_says_what_it_assumes(name: str) -> None:
    module = parse("lowering/accelerations", name)
    title = assigned(module, "NAME")
    assert isinstance(title, ast.Constant)
    assert title.value
    assert "Assumes:" in (ast.get_docstring(module) or "")
    switch = [f for f in module.body if isinstance(f, ast.FunctionDef) and f.name == "switch_on"]
    assert switch, "no function switch_on"
    assert "why not" in (ast.get_docstring(switch[0]) or "")


def test_accelerations_have_names_of_their_own() -> None:
    names = [
        ast.unparse(assigned(parse("lowering/accelerations", name), "NAME"))
        for name in ACCELERATIONS
    ]
    assert len(set(names)) == len(names)


def test_a_backend_file_defines_the_backend_of_its_name() -> None:
    for name in names_in(parse("lowering/backends"), "NAMES"):
        call = assigned(parse("lowering/backends", name), "BACKEND")
        assert isinstance(call, ast.Call)
        given = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
        assert given["name"] == repr(name)


def test_the_names_of_healthy_models_are_those_of_the_models() -> None:
    table = assigned(parse("lowering", "healthy_models"), "MODELS")
    assert isinstance(table, ast.Dict)
    assert tuple(ast.literal_eval(key) for key in table.keys if key) == HEALTHY
