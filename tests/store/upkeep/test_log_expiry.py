"""The log of verdicts has changes of a known verdict, and does not grow without bound (U-10)."""

from support.observations import FINE, LOST
from support.stored import WikiInStore, open_wiki

from weboid.core.url.keys import BUCKETS
from weboid.store.db.pool import Pool
from weboid.store.upkeep.expiry import expire_changes

_LINE = "INSERT INTO change (bucket, host_key, url_key, day, before, after, wiki) VALUES (7, 1, %s, %s, %s, %s, %s)"


async def test_a_first_check_that_finds_a_url_working_leaves_no_line(database: str) -> None:
    good, bad = "http://a.demo/", "http://b.demo/"
    async with open_wiki(database, {1: [good, bad]}) as stored:
        await stored.round(100, lambda url, day: LOST if url == bad else FINE)
        assert await _log(stored) == [(0, 2)]
        await stored.round(130, lambda url, day: FINE)
        assert await _log(stored) == [(0, 2), (2, 1)]


async def _log(stored: WikiInStore) -> list[tuple[int, int]]:
    async with stored.pool.connection() as conn:
        return [row async for row in await conn.execute("SELECT before, after FROM change ORDER BY change")]


async def test_old_changes_go_but_for_deaths_returns_and_the_newest_of_each_url(pool: Pool) -> None:
    lines = [
        *((1, 10, 0, 1, 0), (1, 20, 1, 2, 0), (1, 30, 2, 3, 0), (1, 40, 3, 2, 0), (1, 50, 2, 1, 0), (1, 60, 1, 2, 0)),
        *((2, 10, 0, 2, 0), (2, 20, 2, 1, 9), (3, 10, 0, 1, 0), (4, 99, 0, 1, 0), (4, 100, 1, 2, 0)),
    ]
    async with pool.connection() as conn:
        await conn.cursor().executemany(_LINE, lines)
        assert await expire_changes(conn, 100, range(8, BUCKETS), kept_days=1) == 0
        assert await expire_changes(conn, 100, range(8), kept_days=1) == 4
        left = await conn.execute("SELECT url_key, day FROM change ORDER BY change")
        assert [row async for row in left] == [(1, 30), (1, 40), (1, 60), (2, 10), (2, 20), (4, 99), (4, 100)]
