"""The locks that writers take first: in the order of keys, whatever order they are given in."""

import asyncio
import re

import pytest
from support.databases import until_locked_out
from support.intakes import record_pages
from support.observations import FINE, LOST
from support.stored import WikiInStore, key, open_wiki

from weboid.core.record.policy import DEFAULT
from weboid.core.url.farms import WMFLABS
from weboid.core.url.keys import UrlKey
from weboid.core.verdict.judge import judge
from weboid.feed.intake import page_urls
from weboid.store.db.pool import open_pool
from weboid.store.db.rows import HostKey, KnownUrl, StoredHost, StoredUrl, key_columns
from weboid.store.db.statements import statements
from weboid.store.results.record import Checked, record_batch, record_copy_check
from weboid.store.urls.lock import hosts_of, keep_order, list_there, lock_hosts, lock_urls, lock_urls_and_hosts
from weboid.store.urls.url import find_urls
from weboid.wiki.source import PageLinks

URLS = [f"https://host{number % 7}.demo/{number}" for number in range(60)]
MISSING = UrlKey(1, 2, 3)
NEEDED = statements("urls/check")


async def locked_rows(stored: WikiInStore, table: str) -> int:
    """How many rows of a table another transaction cannot lock now."""
    every = len(await stored.rows(f"SELECT FROM {table}"))
    return every - len(await stored.rows(f"SELECT FROM {table} FOR UPDATE SKIP LOCKED"))


def _checked(known: KnownUrl) -> Checked:
    host = StoredHost(HostKey(*known.key[:2]), known.url.host, known.host)
    record, due = judge(known.record, FINE, 130, DEFAULT, known.host, host_key=1)
    return Checked(StoredUrl(known.key, known.url, known.record), host, 130, FINE, record, due, known.host, known.host)


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
        await conn.rollback()
        # Of a host that comes back its silent URLs are locked besides.
        await stored.execute("UPDATE url SET status = 39 WHERE path IN ('/3', '/10', '/4')")
        one = key(URLS[17])
        assert await lock_urls(conn, [MISSING, one], silent_of=hosts_of([one])) == 1
        assert await locked_rows(stored, "url") == 3


async def test_an_intake_locks_the_hosts_that_fail_and_no_other_that_it_does_not_write(database: str) -> None:
    page = page_urls(PageLinks(2, 0, "Page 2", 1, None, tuple(URLS)), WMFLABS)
    async with open_wiki(database, {1: URLS}) as stored:
        await stored.execute("UPDATE host SET strikes = 1 WHERE host IN ('host3.demo', 'host5.demo')")
        async with stored.pool.connection() as conn:
            await record_pages(conn, stored.wiki.wiki, [page], 101)
            assert await locked_rows(stored, "host") == 2
            assert await locked_rows(stored, "url") == 0


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
                *("reason", "target", "mime", "size_kib", "http", "due", "portrait", "meant", "state_since"),
            )
        }
        values = {**empty, **key_columns(keys)}
        await keep_order(conn)
        query = f"EXPLAIN {NEEDED['record_checks']}".encode()
        plan = "\n".join([line async for (line,) in await conn.execute(query, {**values, "cited": False})])
        assert re.search(r"\burl(_\d+)?_pkey\b", plan)
        others = ("Seq Scan on url", "Hash", "Bitmap", "url_due", "url_orphaned", "_idx")
        assert not any(other in plan for other in others), plan


async def test_a_batch_keeps_the_order_of_keys_whatever_its_session_has_planned_before(database: str) -> None:
    """A session keeps the plan of a statement that it repeats, also where the settings have changed that led to it."""
    urls = sorted(URLS[:2], key=key)
    copy = f"https://web.archive.org/web/20160102030405/{URLS[0]}"
    async with open_wiki(database, {}) as stored, open_pool(database, size=1, part="crawler") as crawler:
        # In the table the URLs are in the other order than by key.
        for page, url in enumerate([copy, *reversed(urls)], start=1):
            await stored.take_in({page: [url]}, 100)
        for day in range(101, 120):
            async with crawler.connection() as conn:
                known = (await find_urls(conn, [key(copy)]))[key(copy)]
                record, _ = judge(known.record, LOST, day, DEFAULT, known.host, host_key=1)
                assert await record_copy_check(conn, known, record, day=day, due=day + 91)

        async def write_batch() -> None:
            async with crawler.connection() as conn:
                checks = [_checked(known) for known in (await find_urls(conn, [key(url) for url in urls])).values()]
                await record_batch(conn, "", checks, {each.url.key.bucket: 0 for each in checks}, DEFAULT)

        async with asyncio.timeout(20), stored.pool.connection() as other:
            await lock_urls(other, [key(urls[0])])
            batch = asyncio.create_task(write_batch())
            await until_locked_out(database)
            assert await locked_rows(stored, "url") == 1
        await batch
