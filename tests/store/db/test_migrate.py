"""Migrations are applied once, in order, by one program at a time, and end in ``sql/schema.sql``."""

import asyncio
import shutil
from pathlib import Path

import psycopg
import pytest
from psycopg import AsyncConnection, sql
from psycopg.conninfo import make_conninfo
from support.databases import found_in

from weboid.assets import asset
from weboid.core.record.policy import DEFAULT, LOOSEST, proven
from weboid.core.record.reasons import Reason
from weboid.core.record.streak import Evidence, Streak, unpacked_evidence
from weboid.errors import StoreError
from weboid.store.db.migrate import migrate, migrations

_CATALOGUE = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "0001_first.sql").write_text("CREATE TABLE a (n int);\nINSERT INTO a VALUES (1);  -- 100 %\n")
    (tmp_path / "0002_second_step.sql").write_text("ALTER TABLE a ADD m int;\n")
    return tmp_path


async def _migrate(dsn: str, folder: Path) -> list[str]:
    async with await AsyncConnection.connect(dsn) as connection:
        return await migrate(connection, folder)


async def test_all_steps_are_applied_in_order_and_a_second_time_none(empty_database: str, folder: Path) -> None:
    assert await _migrate(empty_database, folder) == ["0001_first", "0002_second_step"]
    assert await _migrate(empty_database, folder) == []
    assert (await found_in(empty_database, "SELECT n, m FROM a")) == [(1, None)]
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
    assert (await found_in(empty_database, "SELECT number, to_regclass('b') FROM migration")) == [(1, None)]


async def test_a_step_may_take_longer_than_the_statement_timeout(empty_database: str, folder: Path) -> None:
    (folder / "0001_first.sql").write_text("CREATE TABLE a (); SELECT pg_sleep(0.1);")
    async with await AsyncConnection.connect(empty_database, options="-c statement_timeout=50") as connection:
        assert len(await migrate(connection, folder)) == 2


async def test_a_database_that_cannot_hold_all_titles_is_refused(server_dsn: str, folder: Path) -> None:
    async with await AsyncConnection.connect(server_dsn, autocommit=True) as connection:
        for encoding in ("SQL_ASCII", "LATIN1"):
            made = sql.SQL("CREATE DATABASE odd ENCODING {} LOCALE 'C' TEMPLATE template0").format(encoding)
            await connection.execute(made)
            try:
                with pytest.raises(StoreError, match="createdb --encoding UTF8"):
                    await _migrate(make_conninfo(server_dsn, dbname="odd"), folder)
            finally:
                await connection.execute("DROP DATABASE odd")


async def test_a_database_of_another_program_is_refused(empty_database: str, folder: Path) -> None:
    async with await AsyncConnection.connect(empty_database) as connection:
        await connection.execute("CREATE TABLE migration (id int)")
    with pytest.raises(StoreError, match="of another program"):
        await _migrate(empty_database, folder)


async def test_what_was_applied_may_change_by_its_line_ends_alone(empty_database: str, folder: Path) -> None:
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


async def test_evidence_of_before_keeps_its_days_and_proves_no_more(empty_database: str, tmp_path: Path) -> None:
    """Migration 0034: weekdays, hours, width << 7, hours of missing << 14, missing width << 18, relapse = 2 << 24."""
    steps = sorted(path for path in (asset("sql") / "migrations").iterdir() if path.name < "0035")
    for path in steps[:-1]:
        shutil.copy(path, tmp_path)
    await _migrate(empty_database, tmp_path)
    rows: list[tuple[int | None, Reason, Evidence | None]] = [
        (None, Reason.OK, None),
        (3 | 36 << 7, Reason.TIMEOUT, Evidence(36)),
        (1 | 60 << 7, Reason.TIMEOUT, Evidence(27)),
        (3 | 43 << 7, Reason.GATEWAY, Evidence(43, longer=True)),
        (3 | 71 << 7 | 2 << 24, Reason.DNS_GONE, Evidence(71, relapse=True)),
        (3 | 20 << 7 | 3 << 14 | 14 << 18, Reason.NOT_FOUND, Evidence(20, 15)),
        (2 | 20 << 7 | 3 << 14 | 20 << 18, Reason.NOT_FOUND, Evidence(20, 9)),
    ]
    async with await AsyncConnection.connect(empty_database) as conn:
        for key, (old, reason, _) in enumerate(rows):
            insert = "INSERT INTO host (host_key, bucket, strikes, reason, host, reversed, evidence) VALUES ({})"
            await conn.execute(insert.format("%s, 0, 3, %s, '', '', %s").encode(), (key, reason.number, old))
    shutil.copy(steps[-1], tmp_path)
    await _migrate(empty_database, tmp_path)
    found = [row[0] for row in await found_in(empty_database, "SELECT evidence FROM host ORDER BY host_key")]
    assert [None if new is None else unpacked_evidence(int(str(new))) for new in found] == [new for *_, new in rows]
    proofs = [
        new is not None and any(proven(Streak(3, 0, 90, new), each) for each in (DEFAULT, LOOSEST)) for *_, new in rows
    ]
    assert proofs == [False, True, False, True, True, True, False]


def test_numbers_are_one_two_three_without_gaps(tmp_path: Path) -> None:
    (tmp_path / "0001_first.sql").touch()
    for name in ("0003_gap.sql", "0001_twice.sql", "2_short.sql", "0002 space.sql"):
        (tmp_path / name).touch()
        with pytest.raises(StoreError, match=r"000\d_words\.sql"):
            migrations(tmp_path)
        (tmp_path / name).unlink()


async def test_the_migrations_lead_to_what_the_schema_does(empty_database: str, empty_tables: str) -> None:
    async with await psycopg.AsyncConnection.connect(empty_database) as connection:
        await connection.execute((asset("sql") / "schema.sql").read_bytes())
    migrated, written = [
        [row for row in await found_in(dsn, _CATALOGUE) if not str(row[1]).startswith("migration")]
        for dsn in (empty_tables, empty_database)
    ]
    assert migrated == written
    assert len(written) > 50
    for (table,) in await found_in(empty_database, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"):
        assert await _contents(empty_tables, str(table)) == await _contents(empty_database, str(table))


async def _contents(dsn: str, table: str) -> list[tuple[object, ...]]:
    async with await psycopg.AsyncConnection.connect(dsn) as connection:
        query = sql.SQL("SELECT count(*), min(t::text), max(t::text) FROM {} AS t").format(sql.Identifier(table))
        return await (await connection.execute(query)).fetchall()
