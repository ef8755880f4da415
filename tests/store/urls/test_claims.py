"""What people said comes with what is known of a URL, and only of what failed."""

from support.observations import FINE, LOST
from support.stored import WikiInStore, open_wiki

from weboid.core.observe.observation import Observation
from weboid.core.url.keys import key_of
from weboid.core.url.urls import parse
from weboid.core.verdict.claims import NONE, Claims
from weboid.store.people.replacement import lease_replacements, record_checked, record_replacement
from weboid.store.people.report import record_domain_report, record_report

LOST_URL, FINE_URL = "http://www.a.demo/lost", "http://b.demo/"
PAGES = {1: [LOST_URL, FINE_URL]}


def answer(url: str, day: int) -> Observation:
    return LOST if "lost" in url else FINE


async def rounds(wiki: WikiInStore) -> None:
    for day in range(100, 120):
        await wiki.round(day, answer)


async def suggest(wiki: WikiInStore, target: str, *, archive: int, works: bool) -> None:
    key = key_of(parse(LOST_URL))
    async with wiki.pool.connection() as conn:
        await record_replacement(conn, key, archive=archive, target=target, day=121, subject="7", name="Ann")
        for leased in await lease_replacements(conn, 121, limit=5):
            await record_checked(conn, leased, asked=121, due=150, strikes=0, works=works)


async def test_without_anything_said_there_are_no_notes(database: str) -> None:
    async with open_wiki(database, PAGES) as wiki:
        await rounds(wiki)
        assert (await wiki.known(LOST_URL)).claims is NONE


async def test_a_report_on_the_domain_is_told_of_all_its_dead_urls(database: str) -> None:
    async with open_wiki(database, PAGES) as wiki:
        await rounds(wiki)
        async with wiki.pool.connection() as conn:
            await record_domain_report(conn, "a.demo", 121, "7", "Ann")
            await record_domain_report(conn, "b.demo", 121, "7", "Ann")
        assert (await wiki.known(LOST_URL)).claims == Claims(reported=121)
        assert (await wiki.known(FINE_URL)).claims is NONE


async def test_of_two_reports_the_newer_day_is_told(database: str) -> None:
    async with open_wiki(database, PAGES) as wiki:
        await rounds(wiki)
        known = await wiki.known(LOST_URL)
        async with wiki.pool.connection() as conn:
            await record_report(conn, known, 123, "7", "Ann")
            await record_domain_report(conn, "a.demo", 121, "7", "Ann")
        assert (await wiki.known(LOST_URL)).claims.reported == 123


async def test_replacements_are_told_once_they_work(database: str) -> None:
    async with open_wiki(database, PAGES) as wiki:
        await rounds(wiki)
        await suggest(wiki, "http://c.demo/", archive=0, works=False)
        assert (await wiki.known(LOST_URL)).claims is NONE
        await suggest(wiki, "http://d.demo/", archive=0, works=True)
        await suggest(wiki, "https://web.archive.demo/2017/x", archive=2, works=True)
        await suggest(wiki, "https://archive.demo/x", archive=1, works=True)
        assert (await wiki.known(LOST_URL)).claims == Claims(
            replacement="http://d.demo/", archives=("https://archive.demo/x", "https://web.archive.demo/2017/x")
        )
