"""The same real wiki leaves the same tables whether a pass over its API feeds it or an import of its dumps (L-2).

That a replica says what the dumps say is shown in tests/wiki.
"""

from datetime import UTC, datetime

from support.realsources import dump_source, open_real_api, real_wiki
from support.stored import do

from weboid.core.url.farms import WMFLABS, WikiName
from weboid.feed.page_pass import PagePass
from weboid.feed.sweep import take_in
from weboid.remote.feed.calls import local_feed_store
from weboid.store.db.pool import Pool, open_pool
from weboid.store.pages.wiki import StoredWiki, record_wiki
from weboid.wiki.criteria import read_criteria
from weboid.wiki.source import WikiSource

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


async def test_the_api_and_the_dump_leave_the_same_tables(database: str, second_database: str) -> None:
    async with open_pool(database, size=2, part="test") as pool, open_real_api() as source:
        await _pass(pool, source)
        asked = await _rows(pool)
    async with open_pool(second_database, size=2, part="test") as pool:
        wiki = await _wiki(pool)
        await take_in(pool, dump_source(real_wiki()), wiki, WMFLABS, namespaces=frozenset({0}), day=DAY)
        dumped = await _rows(pool)
    assert len(asked["page"]) == 178
    assert len(asked["link"]) > 7_000
    for table in TABLES:
        assert asked[table] == dumped[table], table


async def _pass(pool: Pool, source: WikiSource) -> None:
    wiki = await _wiki(pool)
    criteria = read_criteria({}, {})
    await PagePass(
        local_feed_store(pool),
        source,
        wiki,
        WMFLABS,
        criteria,
        today=lambda: DAY,
        now=lambda: datetime.now(UTC),
        untouched_days=90,
    ).run()


async def _wiki(pool: Pool) -> StoredWiki:
    return await do(pool, record_wiki, WMFLABS, WikiName("enwiki", "wmflabs"))


async def _rows(pool: Pool) -> Rows:
    async with pool.connection() as conn:
        return {name: sorted(await (await conn.execute(query.encode())).fetchall()) for name, query in TABLES.items()}
