"""Kept snapshots and cited copies in a real web archive, quarter after quarter: depublished ones are dropped (A-3)."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial

import pytest
from support.archives import open_local_client
from support.pywb import RealArchive
from support.stored import WikiInStore, key, open_wiki

from weboid.archive.visits.copy_rounds import CopyRounds
from weboid.core.archive.addresses import reader_address, taken_of
from weboid.core.archive.configured import configured
from weboid.core.archive.outcomes import LookupOutcome
from weboid.core.archive.services import ArchiveService
from weboid.core.archive.visits import QUARTER_DAYS, withdrawn_note
from weboid.core.record.moment import Moment
from weboid.core.url.archives import BY_NAME
from weboid.core.verdict.verdict import Verdict
from weboid.store.archives.snapshot import Origin, StoredSnapshot, list_snapshots, record_snapshots

DAY = 200
STAMP = 20170101000000
PAGES = [f"http://mill.demo/{number}" for number in range(6)]
PUBLIC = "https://www.webarchive.org.uk/wayback/archive"
BODY = b"<title>The mill</title><p>" + b"A wheel of oak turns in the brook. " * 30


def at(base: str) -> tuple[ArchiveService, ...]:
    table = {"base": base, "public": PUBLIC, "per_minute": 0, "replay_per_minute": 0}
    return configured(("ukwa",), {"ukwa": table})


CITED = [reader_address(at("http://127.0.0.1")[0], STAMP + number, url) for number, url in enumerate(PAGES[:2])]


@pytest.fixture
async def wiki(database: str, real_archive: RealArchive) -> AsyncIterator[WikiInStore]:
    """All pages are kept, two by what their own page cites."""
    for number, url in enumerate(PAGES):
        real_archive.add(url, taken_of(STAMP + number), body=BODY)
    async with open_wiki(database, {1: [*PAGES, *CITED]}, day=DAY) as stored:
        rows = [
            StoredSnapshot(key(url), BY_NAME["ukwa"].number, STAMP + number, Origin.CHOSEN, DAY, DAY - 91)
            for number, url in enumerate(PAGES)
            if number >= len(CITED)
        ]
        async with stored.pool.connection() as conn:
            await record_snapshots(conn, rows)
        yield stored


async def live(wiki: WikiInStore, base: str, first: int, days: int, step: int = 1) -> None:
    """A run on each of the days, or on each third, say."""
    for day in range(first, first + days, step):
        async with open_local_client() as client:
            rounds = CopyRounds(wiki.pool, client, at(base), now=partial(Moment, day), stopped=asyncio.Event())
            await rounds.sweep()


async def kept(wiki: WikiInStore) -> set[str]:
    async with wiki.pool.connection() as conn:
        stored = await list_snapshots(conn, [key(url) for url in PAGES])
    return {url for url in PAGES if key(url) in stored}


async def test_what_is_depublished_is_dropped_in_the_next_quarter(wiki: WikiInStore, real_archive: RealArchive) -> None:
    base = real_archive.framed
    await live(wiki, base, DAY, 2)
    assert await kept(wiki) == set(PAGES)
    assert {(await wiki.finding(url)).verdict for url in CITED} == {Verdict.WORKING}
    # One request for each copy, cited or not, and nothing but raw ones.
    asked = [each.target for each in real_archive.log()]
    assert len(asked) == len(PAGES)
    assert all("id_/" in target for target in asked)
    real_archive.block(PAGES[3])
    real_archive.exclude(PAGES[0])
    first = DAY + QUARTER_DAYS
    await live(wiki, base, first, 1)
    assert await kept(wiki) == set(PAGES) - {PAGES[3]}
    await live(wiki, base, first + 1, 22, 3)
    assert await kept(wiki) == set(PAGES) - {PAGES[0], PAGES[3]}
    assert [(await wiki.finding(url)).verdict for url in CITED] == [Verdict.DEAD, Verdict.WORKING]
    rows = await wiki.rows("SELECT outcome, passed FROM lookup")
    assert (LookupOutcome.EXCLUDED.number, withdrawn_note(STAMP + 3)) in rows


async def test_an_archive_away_for_eight_days_loses_nothing(wiki: WikiInStore, real_archive: RealArchive) -> None:
    await live(wiki, real_archive.url, DAY, 2)
    first = DAY + QUARTER_DAYS
    await live(wiki, "http://127.0.0.1:9", first, 4)
    # Then it answers, and knows none of them.
    for url in PAGES:
        real_archive.exclude(url)
    await live(wiki, real_archive.url, first + 4, 4)
    assert await kept(wiki) == set(PAGES)
    assert await wiki.rows("SELECT DISTINCT strikes FROM snapshot") == [(0,)]
    assert {(await wiki.finding(url)).verdict for url in CITED} == {Verdict.WORKING}
    for url in PAGES:
        real_archive.release(url)
    await live(wiki, real_archive.url, first + 8, 5)
    assert await wiki.rows(f"SELECT FROM snapshot WHERE asked < {first + 8}") == []
