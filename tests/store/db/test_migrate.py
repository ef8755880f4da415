"""Migrations are applied once, in order, by one program at a time, and end in ``sql/schema.sql``."""

import asyncio
from pathlib import Path

import psycopg
import pytest
from psycopg import AsyncConnection, sql

from weboid.assets import asset
from weboid.errors import StoreError
from weboid.store.db.migrate import migrate, migrations

_CATALOGUE = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "0001_first.sql").write_text("CREATE TABLE a (n int);\nINSERT INTO a VALUES (1);  -- 100 %\n")
    (tmp_path / "0002_second_step.sql").write_text("ALTER TABLE a ADD m int;\n")
    return tmp_path


async def _migrate(dsn: str, folder: Path) -> list[str]:
    async with await AsyncConnection.connect(dsn) as connection:
        return await migrate(connection, folder)


async def _rows(dsn: str, query: str) -> list[tuple[object, ...]]:
    async with await psycopg.AsyncConnection.connect(dsn) as connection:
        return await (await connection.execute(query.encode())).fetchall()


async def test_all_steps_are_applied_in_order_and_a_second_time_none(empty_database: str, folder: Path) -> None:
    assert await _migrate(empty_database, folder) == ["0001_first", "0002_second_step"]
    assert await _migrate(empty_database, folder) == []
    assert (await _rows(empty_database, "SELECT n, m FROM a")) == [(1, None)]
    (folder / "0003_more.sql").write_text("CREATE TABLE b ();")
    assert await _migrate(empty_database, folder) == ["0003_more"]


async def test_two_programs_at_once_apply_each_step_once(empty_database: str, folder: Path) -> None:
    (folder / "0001_first.sql").write_text("CREATE TABLE a (n int); SELECT pg_sleep(0.1);")
    applied = await asyncio.gather(*(_migrate(empty_database, folder) for _ in range(4)))
    assert sorted(name for names in applied for name in names) == ["0001_first", "0002_second_step"]


async def test_a_failing_step_leaves_no_trace_and_keeps_those_before_it(empty_database: str, folder: Path) -> None:
    (folder / "0002_second_step.sql").write_text("CREATE TABLE b (); SELECT 1 / 0;")
    with pytest.raises(StoreError, match=r"0002_second_step failed.*division by zero"):
        await _migrate(empty_database, folder)
    assert (await _rows(empty_database, "SELECT number, to_regclass('b') FROM migration")) == [(1, None)]


async def test_a_step_may_take_longer_than_the_statement_timeout(empty_database: str, folder: Path) -> None:
    (folder / "0001_first.sql").write_text("CREATE TABLE a (); SELECT pg_sleep(0.1);")
    async with await AsyncConnection.connect(empty_database, options="-c statement_timeout=50") as connection:
        assert len(await migrate(connection, folder)) == 2


async def test_what_was_applied_is_refused_when_it_has_changed_and_other_line_ends_are_no_change(
    empty_database: str, folder: Path
) -> None:
    await _migrate(empty_database, folder)
    first = folder / "0001_first.sql"
    first.write_bytes(first.read_bytes().replace(b"\n", b"\r\n"))
    assert await _migrate(empty_database, folder) == []
    first.write_text("CREATE TABLE a (n bigint);")
    with pytest.raises(StoreError, match=r"migration 1 .* restore the file"):
        await _migrate(empty_database, folder)
    (folder / "0002_second_step.sql").unlink()
    with pytest.raises(StoreError, match="made by a newer weboid"):
        await _migrate(empty_database, folder)


def test_numbers_are_one_two_three_without_gaps(tmp_path: Path) -> None:
    (tmp_path / "0001_first.sql").touch()
    for name in ("0003_gap.sql", "0001_twice.sql", "2_short.sql", "0002 space.sql"):
        (tmp_path / name).touch()
        with pytest.raises(StoreError, match=r"000\d_words\.sql"):
            migrations(tmp_path)
        (tmp_path / name).unlink()


async def test_the_migrations_lead_to_the_schema_and_fill_its_tables_as_it_does(
    empty_database: str, empty_tables: str
) -> None:
    async with await psycopg.AsyncConnection.connect(empty_database) as connection:
        await connection.execute((asset("sql") / "schema.sql").read_bytes())
    migrated, written = [
        [row for row in await _rows(dsn, _CATALOGUE) if not str(row[1]).startswith("migration")]
        for dsn in (empty_tables, empty_database)
    ]
    assert migrated == written
    assert len(written) > 50
    for (table,) in await _rows(empty_database, _TABLES):
        assert await _contents(empty_tables, str(table)) == await _contents(empty_database, str(table))


async def _contents(dsn: str, table: str) -> list[tuple[object, ...]]:
    async with await psycopg.AsyncConnection.connect(dsn) as connection:
        query = sql.SQL("SELECT count(*), min(t::text), max(t::text) FROM {} AS t").format(sql.Identifier(table))
        return await (await connection.execute(query)).fetchall()
