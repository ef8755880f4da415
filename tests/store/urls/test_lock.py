"""The locks that writers take first: in the order of keys, whatever order they are given in."""

import pytest
from support.stored import WikiInStore, key, open_wiki

from weboid.core.url.keys import UrlKey
from weboid.store.db.pool import Connection
from weboid.store.db.rows import key_columns
from weboid.store.db.statements import statements
from weboid.store.urls.lock import hosts_of, keep_order, list_there, lock_hosts, lock_urls, lock_urls_and_hosts

URLS = [f"https://host{number % 7}.demo/{number}" for number in range(60)]
MISSING = UrlKey(1, 2, 3)
NEEDED = statements("urls/check")


async def plan_of(conn: Connection, query: str, values: dict[str, object]) -> str:
    rows = await (await conn.execute(f"EXPLAIN {query}".encode(), values)).fetchall()
    return "\n".join(row[0] for row in rows)


async def locked_rows(stored: WikiInStore, table: str) -> int:
    """How many rows of a table another transaction cannot lock now."""
    every = len(await stored.rows(f"SELECT FROM {table}"))
    return every - len(await stored.rows(f"SELECT FROM {table} FOR UPDATE SKIP LOCKED"))


async def test_urls_and_their_hosts_are_locked_and_nothing_else(database: str) -> None:
    async with open_wiki(database, {1: URLS}) as stored, stored.pool.connection() as conn:
        some = [key(url) for url in URLS if "host3" in url or "host5" in url]
        await lock_urls_and_hosts(conn, [MISSING, *reversed(some)])
        assert await locked_rows(stored, "url") == len(some)
        assert await locked_rows(stored, "host") == 2
        assert await list_there(conn, [MISSING, *some]) == set(some)
        assert await lock_urls(conn, [MISSING, some[0]]) == 1
        assert await lock_urls(conn, []) == 0
        await lock_hosts(conn, [])


async def test_of_a_host_that_comes_back_its_silent_urls_are_locked_besides(database: str) -> None:
    async with open_wiki(database, {1: URLS}) as stored:
        async with stored.pool.connection() as conn:
            await conn.execute(b"UPDATE url SET status = 39 WHERE path IN ('/3', '/10', '/4')")
        async with stored.pool.connection() as conn:
            one = key(URLS[17])
            assert await lock_urls(conn, [MISSING, one], silent_of=hosts_of([one])) == 1
            assert await locked_rows(stored, "url") == 3


@pytest.mark.parametrize("rows", [3, 2_000])
async def test_what_writes_all_urls_at_once_goes_by_the_primary_key(database: str, rows: int) -> None:
    urls = [f"https://host{number}.demo/" for number in range(rows)]
    async with open_wiki(database, {1: urls}) as stored, stored.pool.connection() as conn:
        await conn.execute(b"ANALYZE url")
        keys = sorted(map(key, urls))
        empty: dict[str, object] = {
            name: [None] * rows
            for name in (
                *("status", "since", "asked", "older", "strikes", "failing_since", "failing_until", "evidence"),
                *("reason", "target", "mime", "size_kib", "http", "due", "portrait"),
            )
        }
        values = {**empty, **key_columns(keys)}
        await keep_order(conn)
        plan = await plan_of(conn, NEEDED["record_checks"], {**values, "cited": False})
        assert "url_pkey" in plan
        assert not any(other in plan for other in ("Seq Scan on url", "Hash", "Bitmap", "url_due", "url_orphaned")), (
            plan
        )
