"""Visits to copies that pages cite: reported working, gone or unknown; one request for each and its snapshot (A-3)."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest
from support.archives import (
    TEXT,
    Deed,
    MadeArchive,
    absent,
    excluded,
    mixed_up,
    moved_to,
    open_local_client,
    plays,
    unavailable,
    withdrawn,
)
from support.misbehaving import reply, serve
from support.stored import WikiInStore, key, open_wiki

from weboid.archive.service.replays import Replays
from weboid.archive.visits.cited_rounds import CitedRounds, CitedTally
from weboid.archive.visits.snapshot_rounds import SnapshotRounds
from weboid.core.archive.configured import configured
from weboid.core.archive.services import ArchiveService
from weboid.core.archive.visits import QUARTER_DAYS
from weboid.core.record.days import NEVER_DUE
from weboid.core.record.moment import Moment
from weboid.core.record.reasons import Reason
from weboid.core.url.urls import parse
from weboid.core.verdict.verdict import Verdict
from weboid.store.archives.cited_copy import record_known_as_snapshots
from weboid.store.archives.snapshot import Origin, StoredSnapshot, list_snapshots
from weboid.store.upkeep.alarm import list_alarms

DAY = 200
PAGES = [f"http://mill.demo/?page={number}&lang=en" for number in range(6)]
COPIES = [f"https://web.archive.org/web/2017010100000{number}/{url}" for number, url in enumerate(PAGES)]


@pytest.fixture
async def wiki(database: str) -> AsyncIterator[WikiInStore]:
    async with open_wiki(database, {1: [*PAGES, *COPIES]}, day=DAY) as stored:
        yield stored


async def visit(
    wiki: WikiInStore,
    archive: MadeArchive | Sequence[ArchiveService],
    day: int,
    *,
    hour: int | None = None,
    snapshots: bool = False,
) -> CitedTally:
    """A run over cited copies; with `snapshots` one over kept snapshots before it."""
    async with open_local_client() as client:
        replays = Replays(client, archive.services if isinstance(archive, MadeArchive) else archive)
        stopped = asyncio.Event()
        kept = SnapshotRounds(wiki.pool, replays, now=lambda: Moment(day, hour), stopped=stopped)
        if snapshots:
            await kept.sweep()
        waits = hour is not None
        rounds = CitedRounds(wiki.pool, replays, kept, now=lambda: Moment(day, hour), stopped=stopped, waits=waits)
        return await rounds.sweep()


async def verdicts(wiki: WikiInStore, urls: Sequence[str] = COPIES) -> list[Verdict]:
    return [(await wiki.finding(url)).verdict for url in urls]


async def kept(wiki: WikiInStore, url: str) -> StoredSnapshot | None:
    return next(iter((await wiki.do(list_snapshots, [key(url)])).get(key(url), ())), None)


async def test_a_cited_copy_is_unknown_until_a_visit_and_then_works(wiki: WikiInStore, archive: MadeArchive) -> None:
    assert await verdicts(wiki) == [Verdict.UNKNOWN] * 6
    tally = await visit(wiki, archive, DAY)
    assert (tally.visited, tally.recorded) == (6, 6)
    assert await verdicts(wiki) == [Verdict.WORKING] * 6
    assert sorted(archive.played) == [(20170101000000 + number, url) for number, url in enumerate(PAGES)]
    assert {known.due for known in [await wiki.known(url) for url in COPIES]} == {NEVER_DUE}
    assert (await visit(wiki, archive, DAY + 1)).visited == 0
    assert (await visit(wiki, archive, DAY + QUARTER_DAYS)).visited == 6


async def test_one_request_is_enough_for_a_cited_copy_and_its_snapshot(wiki: WikiInStore, archive: MadeArchive) -> None:
    await visit(wiki, archive, DAY)
    await visit(wiki, archive, DAY + 1, snapshots=True)
    assert len(archive.played) == 6
    for url in PAGES:
        snapshot = await kept(wiki, url)
        assert snapshot
        assert (snapshot.origin, snapshot.asked, snapshot.strikes) == (Origin.CITED, DAY, 0)
    # The other way round: next quarter the snapshot comes first, and the cited copy is known to work by that.
    day = DAY + QUARTER_DAYS
    await visit(wiki, archive, day, snapshots=True)
    assert len(archive.played) == 12
    assert {(await wiki.known(url)).record.checked for url in COPIES} == {day}


@pytest.mark.parametrize(
    ("deed", "reason"),
    [(withdrawn, Reason.GONE), (excluded, Reason.GONE), (absent, Reason.NOT_FOUND), (mixed_up, Reason.NOT_FOUND)],
)
async def test_a_cited_copy_that_is_gone_dies_as_links_do(
    wiki: WikiInStore, archive: MadeArchive, deed: Deed, reason: Reason
) -> None:
    await visit(wiki, archive, DAY)
    archive.deeds[PAGES[2]] = deed
    first = DAY + QUARTER_DAYS
    lived = []
    for day in (0, 3, 6, 13, 16, 19):
        await visit(wiki, archive, first + day)
        lived.append((await wiki.finding(COPIES[2])).verdict)
    assert Verdict.DEAD not in lived[:4]
    assert lived[-1] is Verdict.DEAD
    assert (await wiki.finding(COPIES[2])).reason is reason
    assert await verdicts(wiki, [url for url in COPIES if url != COPIES[2]]) == [Verdict.WORKING] * 5
    # It is dead on the page, and its snapshot is no snapshot any more.
    assert (1, key(COPIES[2])) in await wiki.dead()
    assert await kept(wiki, PAGES[2]) is None


@pytest.mark.parametrize("deed", [absent, unavailable])
async def test_an_archive_that_is_out_harms_no_copy(wiki: WikiInStore, archive: MadeArchive, deed: Deed) -> None:
    await visit(wiki, archive, DAY)
    archive.usual = deed
    first = DAY + QUARTER_DAYS
    for day in range(first, first + 8):
        await visit(wiki, archive, day, snapshots=True)
    assert await verdicts(wiki) == [Verdict.WORKING] * 6
    assert {(await wiki.known(url)).record.streak.strikes for url in COPIES} == {0}
    archive.usual = plays
    for day in range(first + 8, first + 30, 3):
        await visit(wiki, archive, day, snapshots=True)
    assert {((await wiki.known(url)).record.checked or 0) >= first + 8 for url in COPIES} == {True}
    assert await wiki.do(list_alarms) == []


async def test_one_that_is_led_away_from_works_as_a_redirect(wiki: WikiInStore, archive: MadeArchive) -> None:
    archive.deeds[PAGES[1]] = moved_to(20190101000000)
    archive.deeds[20190101000000] = plays
    await visit(wiki, archive, DAY)
    known = await wiki.known(COPIES[1])
    assert known.record.reason is Reason.MOVED
    assert known.record.target == f"https://web.archive.org/web/20190101000000/{PAGES[1]}"


async def test_a_shortened_stamp_is_kept_as_the_copy_that_it_leads_to(database: str, archive: MadeArchive) -> None:
    cited = f"https://web.archive.org/web/2017/{PAGES[0]}"
    archive.deeds |= {20170101000000: moved_to(20170808080808)}
    async with open_wiki(database, {1: [PAGES[0], cited]}, day=DAY) as wiki:
        await visit(wiki, archive, DAY)
        assert (await wiki.finding(cited)).verdict is Verdict.WORKING
        snapshot = await kept(wiki, PAGES[0])
        assert snapshot
        assert (snapshot.stamp, snapshot.asked) == (20170808080808, DAY)


async def test_a_short_address_is_resolved_once_by_its_archive_and_is_a_snapshot_of_that_page_then(
    database: str,
) -> None:
    cited, link = "https://perma.cc/ABCD-1234", '<http://mill.demo/a>; rel="original"'
    memento = '<https://perma.cc/ABCD-1234>; rel="memento"; datetime="Sun, 04 Oct 2015 23:18:13 GMT"'
    async with (
        serve(lambda _: reply(200, f"Link: {link}, {memento}", body=TEXT)) as site,
        open_wiki(database, {1: ["http://mill.demo/a", cited]}, day=DAY) as wiki,
    ):
        table = {"base": site.url(""), "public": "https://perma.cc", "per_minute": 0, "replay_per_minute": 0}
        await visit(wiki, configured(("perma",), {"perma": table}), DAY)
        snapshot = await kept(wiki, "http://mill.demo/a")
        assert snapshot
        assert (snapshot.stamp, snapshot.address, snapshot.origin) == (20151004231813, cited, Origin.CITED)
        # A spelling that dies later finds it, too.
        await wiki.take_in({2: ["https://www.mill.demo/a"]}, DAY)
        await wiki.do(record_known_as_snapshots, [parse("https://www.mill.demo/a")], DAY)
        later = await kept(wiki, "https://www.mill.demo/a")
        assert later
        assert (later.stamp, later.address) == (20151004231813, cited)
