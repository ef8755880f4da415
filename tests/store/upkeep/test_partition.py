"""Tables are divided by bucket with all that is in them, at once or after a stop."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import LiteralString

import pytest
from psycopg import sql
from support.partitioned import SHARDED, fill

from weboid.errors import StoreAway, StoreError
from weboid.store.db.pool import Connection, Pool, open_pool
from weboid.store.upkeep import partition as module
from weboid.store.upkeep.partition import TABLES, list_whole, partition, partition_table


@pytest.fixture
async def pool(whole_database: str) -> AsyncIterator[Pool]:
    async with open_pool(whole_database, size=2, part="test") as opened:
        yield opened


_INDEXES = """
SELECT indexname, replace(indexdef, ' ON ONLY ', ' ON ') FROM pg_indexes
WHERE tablename = ANY(%s::text[]) ORDER BY 1
"""
_CONTENTS: LiteralString = "SELECT count(*), sum(hashtextextended(stored::text, 0)) FROM {} AS stored"
_PARTS = """
SELECT inhparent::regclass::text, count(*), min(pg_get_expr(relpartbound, pg_class.oid)), max(reloptions::text)
FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid WHERE relkind = 'r' GROUP BY inhparent
"""


async def _indexes(conn: Connection) -> list[tuple[object, ...]]:
    return await (await conn.execute(_INDEXES, [list(SHARDED)])).fetchall()


async def _contents(conn: Connection) -> Mapping[str, object]:
    found = {}
    for table in SHARDED:
        rows = await conn.execute(sql.SQL(_CONTENTS).format(sql.Identifier(table)))
        found[table] = await rows.fetchone()
    return found


async def test_all_rows_and_indexes_are_there_after_a_store_was_divided(pool: Pool, whole_database: str) -> None:
    await asyncio.to_thread(fill, whole_database)
    async with pool.connection() as conn:
        before = await _indexes(conn), await _contents(conn)
    shown: list[tuple[str, int]] = []
    divided = await partition(pool, 8, show=lambda table, percent: shown.append((table, percent)))
    assert divided.keys() == set(TABLES)
    assert min(divided.values()) > 100_000
    assert [percent for table, percent in shown if table == "url"] == list(range(1, 101))
    async with pool.connection() as conn:
        assert (await _indexes(conn), await _contents(conn)) == before
        parts = {row[0]: row[1:] async for row in await conn.execute(_PARTS)}
    assert parts.keys() == set(TABLES)
    assert parts["url"] == (8, "FOR VALUES FROM ('1024') TO ('1536')", None)


async def test_a_table_keeps_its_settings_of_storage(conn: Connection) -> None:
    await partition_table(conn, "snapshot", 2)
    assert {row[3] async for row in await conn.execute(_PARTS)} == {"{autovacuum_vacuum_scale_factor=0.02}"}


@pytest.mark.parametrize("ends_session", [False, True])
async def test_a_run_that_was_stopped_goes_on_with_the_tables_that_are_whole(
    pool: Pool, whole_database: str, monkeypatch: pytest.MonkeyPatch, ends_session: bool
) -> None:
    await asyncio.to_thread(fill, whole_database)
    async with pool.connection() as conn:
        before = await _contents(conn)

    async def end_session() -> None:
        """As a server that has no room for its log of writes."""
        async with pool.connection() as conn:
            await conn.execute(
                "SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN pg_database d ON d.oid = l.database "
                "WHERE l.mode = 'AccessExclusiveLock' AND d.datname = current_database()"
            )

    def stop_in_urls(table: str, percent: int) -> None:
        if (table, percent) == ("url", 50):
            if not ends_session:
                raise KeyboardInterrupt
            asyncio.create_task(end_session())  # noqa: RUF006 (it ends before the copy does)

    with pytest.raises(StoreError if ends_session else KeyboardInterrupt) as stopped:
        await partition(pool, 8, show=stop_in_urls)
    words = "no row of the table url is lost. Where the disk is full, free some; run it again"
    assert (words in str(stopped.value)) == ends_session
    assert not isinstance(stopped.value, StoreAway)  # which is waited for
    assert (await list_whole(pool)).keys() == {"url"}
    assert (await partition(pool, 8)).keys() == {"url"}
    assert await partition(pool, 8) == {}
    async with pool.connection() as conn:
        assert await _contents(conn) == before
    monkeypatch.setattr(module, "TABLES", SHARDED)
    assert (await partition(pool, 8)).keys() == set(SHARDED) - set(TABLES)


async def test_a_table_that_is_read_for_long_is_left_and_nobody_waits_for_us(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LOCK_MS", "50")
    async with pool.connection() as reader:
        await reader.execute("SELECT FROM url")
        with pytest.raises(StoreError, match=r"uses the table url: run it again when backups are over"):
            await partition(pool, 8)
    assert (await partition(pool, 8)).keys() == {"url"}


async def test_of_two_runs_at_once_each_ends_well(pool: Pool) -> None:
    others: list[asyncio.Task[Mapping[str, int]]] = []

    def show(table: str, percent: int) -> None:
        if (table, percent) == ("link", 1):
            others.append(asyncio.create_task(partition(pool, 8)))

    assert (await partition(pool, 8, show=show)).keys() == set(TABLES)
    assert "link" not in await others[0]
    assert await list_whole(pool) == {}
