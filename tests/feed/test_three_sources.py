"""The same real wiki, fed by its API, its dumps or its replica, leaves the same tables (L-2)."""

from collections.abc import AsyncIterator

import pytest
from support.mariadb import MariaServer, mariadb_server
from support.realsources import dump_source, open_real_api, open_replica, real_wiki

from weboid.central.feed.feed_on_store import store_feed
from weboid.core.url.farms import WMFLABS, WikiName
from weboid.feed.page_pass import PagePass
from weboid.feed.sweep import take_in
from weboid.store.db.pool import Pool, open_pool
from weboid.store.pages.wiki import StoredWiki, record_wiki
from weboid.wiki.criteria import read_criteria
from weboid.wiki.source import WikiSource

__all__ = ["mariadb_server"]

DAY = 100
TABLES = {
    # The mark is the one thing that sources tell differently: when links were updated, or a page was touched.
    "page": "SELECT page, namespace, title, latest, urls, touched, flagged FROM page",
    "url": "SELECT bucket, host_key, url_key, scheme, port, path, due, status, orphaned FROM url",
    "host": "SELECT bucket, host_key, host, reversed, next_day FROM host",
    "link": "SELECT bucket, host_key, url_key, page FROM link",
    "dead": "SELECT bucket, host_key, url_key, page FROM dead",
    "wiki": "SELECT farm, dbname, passed FROM wiki",
}

Rows = dict[str, list[tuple[object, ...]]]


@pytest.fixture
async def fed_by_dump(second_database: str) -> AsyncIterator[Rows]:
    """The tables after the import of the dumps."""
    async with open_pool(second_database, size=2, part="test") as pool:
        wiki = await _wiki(pool)
        await take_in(pool, dump_source(real_wiki()), wiki, WMFLABS, namespaces=frozenset({0}), day=DAY)
        yield await _rows(pool)


async def test_the_api_and_the_dump_leave_the_same_tables(database: str, fed_by_dump: Rows) -> None:
    async with open_pool(database, size=2, part="test") as pool, open_real_api() as source:
        await _pass(pool, source)
        _compare(await _rows(pool), fed_by_dump)


async def test_the_replica_and_the_dump_leave_the_same_tables(
    database: str, fed_by_dump: Rows, mariadb_server: MariaServer
) -> None:
    async with (
        open_pool(database, size=2, part="test") as pool,
        open_replica(mariadb_server, real_wiki()) as source,
    ):
        await _pass(pool, source)
        _compare(await _rows(pool), fed_by_dump)


def _compare(rows: Rows, others: Rows) -> None:
    assert len(rows["page"]) == 178
    assert len(rows["link"]) > 7_000
    for table in TABLES:
        assert rows[table] == others[table], table


async def _pass(pool: Pool, source: WikiSource) -> None:
    wiki = await _wiki(pool)
    criteria = read_criteria({}, {})
    await PagePass(store_feed(pool), source, wiki, WMFLABS, criteria, today=lambda: DAY, untouched_days=90).run()


async def _wiki(pool: Pool) -> StoredWiki:
    async with pool.connection() as conn:
        return await record_wiki(conn, WMFLABS, WikiName("enwiki", "wmflabs"))


async def _rows(pool: Pool) -> Rows:
    async with pool.connection() as conn:
        return {name: sorted(await (await conn.execute(query.encode())).fetchall()) for name, query in TABLES.items()}
