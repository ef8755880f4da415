"""C-4: an active request of a page moves its URLs forward, bounded, and without waiting for other writers."""

import asyncio

import pytest
from support.observations import FINE, LOST
from support.stored import WikiInStore, key, open_wiki

from weboid.core.observe.observation import Observation
from weboid.store.pages import pending
from weboid.store.pages.pending import record_asked

PAGE = [f"http://h{number}.demo/{path}" for number in range(5) for path in range(4)]
OTHER = ["http://other.demo/1", PAGE[0]]


async def look(wiki: WikiInStore, day: int, *pages: int) -> None:
    await wiki.do(record_asked, wiki.wiki.wiki, pages, day)


async def days(wiki: WikiInStore) -> list[tuple[int, int]]:
    """How many URLs are due on each day, the hosts' days being the earliest of their URLs."""
    rows = await wiki.rows("SELECT due, count(*)::int FROM url GROUP BY due")
    wrong = await wiki.rows(
        "SELECT host.host FROM host WHERE next_day <> (SELECT min(due) FROM url"
        " WHERE url.bucket = host.bucket AND url.host_key = host.host_key)"
    )
    assert wrong == []
    return rows  # type: ignore[return-value]


async def late(wiki: WikiInStore, due: int) -> None:
    """All URLs are due only on that day, as with a long interval."""
    async with wiki.pool.connection() as conn:
        await conn.execute(b"UPDATE url SET due = %(due)s", {"due": due})
        await conn.execute(b"UPDATE host SET next_day = %(due)s", {"due": due})


def fine(url: str, day: int) -> Observation:
    return FINE


async def test_the_urls_of_a_page_that_somebody_looks_at_are_checked_the_same_day(database: str) -> None:
    async with open_wiki(database, {1: PAGE, 2: OTHER}) as wiki:
        await wiki.round(100, fine)
        await late(wiki, 128)
        await look(wiki, 106, 1)
        assert await days(wiki) == [(128, 21)]  # they were checked less than a week ago
        await look(wiki, 110, 1)
        assert await days(wiki) == [(110, 20), (128, 1)]
        wiki.asked.clear()
        assert (await wiki.round(110, fine)).written == 20
        assert {url for _, url in wiki.asked} == set(PAGE)


async def test_dead_urls_and_those_that_were_never_checked_are_moved_and_orphans_are_not(database: str) -> None:
    async with open_wiki(database, {1: PAGE[:8]}) as wiki:
        for day in (100, 103, 107, 110, 114, 115, 116):
            await wiki.round(day, lambda url, day: LOST)
        await wiki.take_in({1: PAGE[:4], 3: [PAGE[5]], 4: ["http://new.demo/"]}, 136, latest=2)
        await late(wiki, 160)
        await look(wiki, 150, 1, 4)
        assert await days(wiki) == [(150, 5), (160, 4)]
        assert (await wiki.known(PAGE[0])).due == 150


async def test_no_more_than_so_many_urls_are_moved_on_a_day(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pending, "MOST_A_DAY", 6)
    monkeypatch.setattr(pending, "MOST_AT_ONCE", 4)
    async with open_wiki(database, {1: PAGE, 2: OTHER, 3: PAGE}) as wiki:
        await wiki.round(100, fine)
        await late(wiki, 128)
        moved = []
        for day, page in ((110, 1), (110, 2), (110, 3), (111, 1)):
            await look(wiki, day, page)
            moved.append(sum(count for due, count in await days(wiki) if due < 128))
        assert moved == [4, 6, 6, 10]


async def test_looking_at_a_page_waits_for_nobody_who_writes_its_urls_or_hosts(database: str) -> None:
    async with open_wiki(database, {1: PAGE}) as wiki:
        await wiki.round(100, fine)
        await late(wiki, 128)
        url, host = key(PAGE[0]), key(PAGE[19])
        async with wiki.pool.connection() as conn:
            await conn.execute(b"SELECT FROM url WHERE url_key = %(key)s FOR UPDATE", {"key": url.url_key})
            await conn.execute(b"SELECT FROM host WHERE host_key = %(key)s FOR UPDATE", {"key": host.host_key})
            await look(wiki, 110, 1)
        assert await days(wiki) == [(110, 15), (128, 5)]


async def test_pages_are_looked_at_and_rounds_run_at_once(database: str) -> None:
    async with open_wiki(database, dict.fromkeys(range(1, 20), PAGE)) as wiki:
        await wiki.round(100, fine)
        for day in (110, 120, 130):
            await late(wiki, day + 5)
            rounds = wiki.new_round(day + 5, fine)
            await asyncio.gather(rounds.run(), *(look(wiki, day, number) for number in range(1, 20)))
            await days(wiki)
