import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.statements import ALL, plans

import weboid.store
from weboid.store.db.pool import Connection
from weboid.store.db.statements import Statements, blocks


def _file(folder: Path, text: str) -> Path:
    path = folder / "noun.sql"
    path.write_text(text)
    return path


def test_a_statement_has_its_name_and_loses_its_comments(tmp_path: Path) -> None:
    path = _file(
        tmp_path,
        "-- What it is.\n\n-- name: find one\n-- why: 100 %\nSELECT 1\n  -- more\nFROM a;\n\n-- name: b\nSELECT 2",
    )
    assert Statements(path) == {"find one": "SELECT 1\nFROM a", "b": "SELECT 2"}
    assert "100 %" in blocks(path)["find one"]
    with pytest.raises(LookupError, match=r"noun\.sql has no statement named 'c'"):
        Statements(path)["c"]


@pytest.mark.parametrize(
    "text", ["SELECT 1", "SELECT 1;\n-- name: b\nSELECT 2", "-- name: b\nSELECT 1\n-- name: b\nSELECT 2"]
)
def test_every_statement_needs_a_name_of_its_own(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError, match="a name of its own"):
        Statements(_file(tmp_path, text))


def test_every_statement_can_be_planned(empty_tables: str) -> None:
    assert plans(empty_tables).keys() == {(noun, name) for noun, name, _ in ALL}
    assert len(ALL) > 20


def test_every_statement_that_a_module_looks_up_exists() -> None:
    used = {use for path in weboid.store.__path__ for module in Path(path).rglob("*.py") for use in _uses(module)}
    assert used <= {(noun, name) for noun, name, _ in ALL}
    assert len(used) > 20


def _uses(module: Path) -> Iterator[tuple[str, str]]:
    """The (noun, name) that a module looks up, by its constants ``X = statements("noun")`` and their ``X["name"]``."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    nouns: dict[str, str] = {}
    for node in ast.walk(tree):
        match node:
            case (
                ast.Assign(targets=[ast.Name(variable)], value=value)
                | ast.AnnAssign(target=ast.Name(variable), value=value)
            ):
                match value:
                    case ast.Call(func=ast.Name("statements"), args=[ast.Constant(str(noun))]):
                        nouns[variable] = noun
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(value=ast.Name(variable), slice=ast.Constant(str(name))) if variable in nouns:
                yield nouns[variable], name


async def test_a_list_arrives_as_it_was_however_lists_meet_in_one_prepared_statement(conn: Connection) -> None:
    lists: list[tuple[str, list[object]]] = [
        ("bigint", [1, None, -(2**63), 2**63 - 1]),
        ("smallint", [None, 7]),
        ("integer", []),
        ("integer", [None, None]),
        ("boolean", [True, None, False]),
        ("float8", [0.5, None, -1e300]),
        ("text", ["1", "NULL", None, '{",\\}', ""]),
        ("bytea", [b"\0\xff", None]),
    ]
    for kind, values in lists * 4:  # the later ones are prepared
        row = await (await conn.execute(f"SELECT %s::{kind}[]".encode(), [values])).fetchone()
        assert row == (values,)
    for texts in ([1, 2], ["3"], [None], [4], ["NULL"], []) * 3:
        row = await (await conn.execute("SELECT %s::text[]", [texts])).fetchone()
        assert row == ([None if each is None else str(each) for each in texts],)


async def test_nothing_but_a_number_gets_between_numbers(conn: Connection) -> None:
    for stranger in ("2},{3", 1.5, float("nan"), b"x", True):
        with pytest.raises(TypeError):
            await conn.execute("SELECT %s::bigint[]", [[1, stranger]])
