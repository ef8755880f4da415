"""Which dead links their page has repaired (L-10): the table that lists read says what answers about pages say."""

from random import Random

import pytest
from support.observations import FINE, LOST
from support.stored import WikiInStore, key, open_wiki

from weboid.core.url.classify import classify
from weboid.core.url.keys import UrlKey
from weboid.core.url.urls import parse
from weboid.core.verdict.judge import judge
from weboid.core.verdict.link_report import keyed_link, keyed_reports
from weboid.core.verdict.verdict import Verdict, change_of, finding_of
from weboid.mechanism.slices import at_once
from weboid.store.archives.cited_copy import list_cited, record_named
from weboid.store.results.record import record_copy_check
from weboid.store.urls.check import CheckedUrl, record_changes, record_checks
from weboid.store.urls.repaired import list_repaired, record_unknown
from weboid.store.urls.url import find_urls

DEAD_ARCHIVE = "http://www.webcitation.org/5kwDUj6WJ"
LINKS = ["http://a.demo/x", "https://www.a.demo/x/", "http://a.demo/y", "ftp://a.demo/x", DEAD_ARCHIVE]
COPIES = [
    "https://web.archive.org/web/20160503120000/http://a.demo/x",
    "https://web.archive.org/web/20170503120000/https://a.demo/x/",
    "https://arquivo.pt/wayback/20160503120000/http://a.demo/y",
    "https://archive.today/20160503120000/http://a.demo/y",
    "https://web.archive.org/web/20160503120000/ftp://a.demo/x",
    f"https://web.archive.org/web/20160503120000/{DEAD_ARCHIVE}",
]
STORED = "SELECT page, bucket, host_key, url_key, repaired FROM dead"


async def check(stored: WikiInStore, url: str, *, works: bool, day: int) -> None:
    """What some weeks of checks, or of visits to a copy, leave behind."""
    known = await stored.known(url)
    record = known.record
    for each in range(day, day + 40, 3):
        record, _ = judge(record, FINE if works else LOST, each)
    if url in COPIES:
        await stored.do(record_copy_check, known, record, day=day + 40, due=day + 90)
        return
    change = change_of(known.key, day + 40, finding_of(known.record), finding_of(record))
    async with stored.pool.connection() as conn:
        await record_checks(conn, [CheckedUrl(known.key, record, day + 50)])
        await record_changes(conn, [change] if change else [])


async def repaired(stored: WikiInStore, pages: dict[int, list[str]]) -> set[tuple[int, UrlKey]]:
    """What answers about these pages say of their dead links; the same of doubtful ones, which lists derive."""
    found = set()
    for page, urls in pages.items():
        links = [keyed_link(classify(url, None)) for url in urls]
        known = await stored.do(find_urls, [link.key for link in links if link.key])
        reports = [link for link in at_once(keyed_reports(links, known)) if link.is_repaired and link.normal]
        for verdict in (Verdict.DEAD, Verdict.DOUBTFUL):
            uses = {(page, key(link.normal)) for link in reports if link.finding.verdict is verdict and link.normal}
            every = [(page, link.key) for link in links if link.key]
            listed = await stored.do(list_repaired, stored.wiki.wiki, every, dead=verdict is Verdict.DEAD)
            assert uses <= listed
            found |= uses if verdict is Verdict.DEAD else set()
    return found


@pytest.mark.parametrize("seed", range(6))
async def test_the_table_says_what_answers_say_whatever_comes_goes_dies_and_comes_back(
    database: str, seed: int
) -> None:
    chance = Random(seed)
    pages: dict[int, list[str]] = {page: [] for page in (1, 2, 3)}
    every, seen = [*LINKS, *COPIES], 0
    async with open_wiki(database, {1: every}) as stored:
        for step in range(12):
            if step % 2 == 0:
                page = chance.choice(list(pages))
                pages[page] = chance.sample(every, chance.randrange(len(every)))
                await stored.take_in(pages | ({1: every} if step == 0 else {}), 100, latest=step + 2)
                pages[1] = every if step == 0 else pages[1]
            elif "today" not in (url := chance.choice([*LINKS, *every])):
                await check(stored, url, works=chance.random() < 0.3, day=100 + step * 50)
            rows = await stored.rows(STORED)
            says = {(page, UrlKey(*key)) for page, *key, repaired in rows if repaired}  # type: ignore[arg-type]
            assert says == await repaired(stored, pages), (seed, step)
            assert None not in {row[4] for row in rows}
            seen += len(says)
    assert seed or seen


async def test_links_that_were_dead_before_are_derived_in_batches_and_only_once(database: str) -> None:
    async with open_wiki(database, {page: [*LINKS, COPIES[0]] for page in (1, 2)}) as stored:
        for url in LINKS:
            await check(stored, url, works=False, day=100)
        before = await stored.rows(STORED)
        assert {row[4] for row in before} == {True, False}
        await stored.execute("UPDATE dead SET repaired = NULL")
        while await stored.do(record_unknown, limit=3):
            pass
        assert await stored.rows(STORED) == before


async def test_neither_calendars_of_copies_nor_short_addresses_repair(database: str) -> None:
    calendar, short = "https://web.archive.org/web/2016*/http://a.demo/y", "https://ghostarchive.org/archive/AbCdE"
    async with open_wiki(database, {1: ["http://a.demo/x", short], 2: ["http://a.demo/y", calendar]}) as stored:
        (copy,) = (await stored.do(list_cited, [key(short)])).values()
        await stored.do(record_named, copy, parse(short), parse("http://a.demo/x"), 20160503120000, 100)
        for url in ("http://a.demo/x", "http://a.demo/y"):
            await check(stored, url, works=False, day=100)
        assert [row[-1] for row in await stored.rows(STORED)] == [False, False]
