"""Visits to kept snapshots, against a small archive: strikes, drops, canaries, and never a mass drop (A-3, U-8)."""

import asyncio
from dataclasses import asdict

import pytest
from support.archives import (
    Deed,
    MadeArchive,
    absent,
    excluded,
    moved_to,
    no_moment,
    open_local_client,
    plays,
    withdrawn,
)
from support.observations import FINE, LOST
from support.stored import WikiInStore, key

from weboid.archive.service.replays import Replays
from weboid.archive.visits.snapshot_rounds import SnapshotRounds, VisitTally
from weboid.core.archive.outcomes import LookupOutcome
from weboid.core.archive.visits import HANDFUL, QUARTER_DAYS, STRIKE_DAYS, withdrawn_note
from weboid.core.record.moment import Moment
from weboid.core.url.archives import BY_NAME
from weboid.store.archives.lookup import list_lookups
from weboid.store.archives.snapshot import Origin, StoredSnapshot, list_snapshots, record_snapshots

WAYBACK = BY_NAME["wayback"].number
URLS = [f"http://dead.demo/{number}" for number in range(40)]
DAY = 200
STAMP = 20170101000000
IN_STORE = {1: URLS}


async def keep(wiki: WikiInStore, count: int, *, due: int = DAY, asked: int | None = DAY - 91, first: int = 0) -> None:
    rows = [
        StoredSnapshot(key(URLS[number]), WAYBACK, STAMP + number, Origin.CHOSEN, due, asked)
        for number in range(first, first + count)
    ]
    assert await wiki.do(record_snapshots, rows) == count


async def sweep(wiki: WikiInStore, archive: MadeArchive, day: int, *, allow_many: bool = False) -> VisitTally:
    async with open_local_client() as client:
        replays = Replays(client, archive.services)
        stopped = asyncio.Event()
        rounds = SnapshotRounds(wiki.pool, replays, now=lambda: Moment(day), stopped=stopped, allow_many=allow_many)
        return await rounds.sweep()


async def kept(wiki: WikiInStore) -> dict[str, StoredSnapshot]:
    stored = await wiki.do(list_snapshots, [key(url) for url in URLS])
    return {url: stored[key(url)][0] for url in URLS if key(url) in stored}


def counts(tally: VisitTally) -> dict[str, int]:
    return {name: count for name, count in asdict(tally).items() if count}


async def test_a_snapshot_that_plays_is_asked_for_raw_once_a_quarter(wiki: WikiInStore, archive: MadeArchive) -> None:
    await keep(wiki, 3)
    assert counts(await sweep(wiki, archive, DAY - 1)) == {}
    assert counts(await sweep(wiki, archive, DAY)) == {"visited": 3, "kept": 3}
    assert sorted(archive.played) == [(STAMP + number, URLS[number]) for number in range(3)]
    assert archive.others == []
    for snapshot in (await kept(wiki)).values():
        assert (snapshot.asked, snapshot.strikes) == (DAY, 0)
        assert QUARTER_DAYS - 14 < snapshot.due - DAY <= QUARTER_DAYS
    assert counts(await sweep(wiki, archive, DAY + 1)) == {}
    assert counts(await sweep(wiki, archive, DAY + QUARTER_DAYS))["visited"] == 3


async def test_a_visit_notes_what_the_copy_shows_and_one_that_does_not_find_it_forgets_nothing(
    wiki: WikiInStore, archive: MadeArchive
) -> None:
    await keep(wiki, 1)
    await sweep(wiki, archive, DAY)
    archive.usual = absent
    await sweep(wiki, archive, DAY + QUARTER_DAYS)
    assert await wiki.rows("SELECT preview, strikes FROM snapshot") == [("The mill and its wheel", 1)]


@pytest.mark.parametrize("deed", [absent, no_moment, moved_to(20190101000000)])
async def test_what_is_missing_three_times_is_dropped(wiki: WikiInStore, archive: MadeArchive, deed: Deed) -> None:
    await keep(wiki, 8)
    archive.deeds[URLS[3]] = deed
    assert counts(await sweep(wiki, archive, DAY)) == {"visited": 8, "kept": 7, "struck": 1}
    assert counts(await sweep(wiki, archive, DAY + STRIKE_DAYS - 1)) == {}
    assert counts(await sweep(wiki, archive, DAY + STRIKE_DAYS)) == {"visited": 1, "struck": 1}
    assert (await kept(wiki))[URLS[3]].strikes == 2
    assert counts(await sweep(wiki, archive, DAY + 2 * STRIKE_DAYS)) == {"visited": 1, "dropped": 1}
    assert sorted(await kept(wiki)) == sorted(url for url in URLS[:8] if url != URLS[3])
    assert await wiki.alarms() == []


@pytest.mark.parametrize("deed", [withdrawn, excluded])
async def test_what_is_withdrawn_is_dropped_and_reported(wiki: WikiInStore, archive: MadeArchive, deed: Deed) -> None:
    await wiki.round(DAY - 30, lambda url, day: LOST)
    await keep(wiki, 6)
    archive.deeds[URLS[2]] = deed
    assert counts(await sweep(wiki, archive, DAY)) == {"visited": 6, "kept": 5, "dropped": 1}
    assert URLS[2] not in await kept(wiki)
    [lookup] = (await wiki.do(list_lookups, [key(URLS[2])]))[key(URLS[2])]
    assert (lookup.archive, lookup.outcome, lookup.asked) == (WAYBACK, LookupOutcome.EXCLUDED, DAY)
    assert (lookup.due, lookup.passed) == (DAY + 90, withdrawn_note(STAMP + 2))


async def test_another_copy_is_looked_for_only_of_what_is_not_working(wiki: WikiInStore, archive: MadeArchive) -> None:
    for day in (DAY - 40, DAY - 30):
        await wiki.round(day, lambda url, day: LOST if url == URLS[0] else FINE)
    await keep(wiki, 6)
    archive.deeds |= {URLS[0]: withdrawn, URLS[1]: withdrawn}
    assert counts(await sweep(wiki, archive, DAY))["dropped"] == 2
    queued = await wiki.rows("SELECT bucket, host_key, url_key FROM copy_queue WHERE waits")
    assert queued == [tuple(key(URLS[0]))]


@pytest.mark.parametrize("deed", [absent, no_moment, withdrawn])
async def test_eight_days_without_the_archive_strike_none(wiki: WikiInStore, archive: MadeArchive, deed: Deed) -> None:
    await keep(wiki, 30, due=DAY)
    await keep(wiki, 10, due=DAY + 300, first=30)
    archive.usual = deed
    for day in range(DAY, DAY + 8):
        tally = await sweep(wiki, archive, day)
        assert tally.struck + tally.dropped == 0
        assert await wiki.alarms() == [("archive-down", "wayback")]
    # A worker asks no more of it than one group and its canary copies, once a day.
    assert len(archive.played) <= 8 * (30 + 20)
    archive.usual = plays
    assert counts(await sweep(wiki, archive, DAY + 8)) == {"visited": 30, "kept": 30}
    assert await wiki.alarms() == []
    assert {each.strikes for each in (await kept(wiki)).values()} == {0}


async def test_without_any_copy_that_ever_played_an_archive_that_shows_nothing_is_not_believed(
    wiki: WikiInStore, archive: MadeArchive
) -> None:
    await keep(wiki, 5, asked=None)
    archive.usual = absent
    assert counts(await sweep(wiki, archive, DAY)) == {"visited": 5, "held": 5}
    archive.deeds[URLS[0]] = plays
    assert counts(await sweep(wiki, archive, DAY + 1)) == {"visited": 5, "kept": 1, "struck": 4}


async def test_no_more_than_a_handful_of_few_are_dropped_unsaid(wiki: WikiInStore, archive: MadeArchive) -> None:
    await keep(wiki, 40)
    archive.deeds |= dict.fromkeys(URLS[:8], withdrawn)
    tally = await sweep(wiki, archive, DAY)
    assert (tally.dropped, tally.stopped) == (HANDFUL, 3)
    assert await wiki.alarms() == [("snapshots", "wayback")]
    assert len(await kept(wiki)) == 35
    # The same quarter, another run: the word of an operator is needed.
    tally = await sweep(wiki, archive, DAY + STRIKE_DAYS)
    assert (tally.dropped, tally.stopped) == (0, 3)
    tally = await sweep(wiki, archive, DAY + 2 * STRIKE_DAYS, allow_many=True)
    assert (tally.dropped, tally.stopped) == (3, 0)
    assert await wiki.alarms() == []
    # What was allowed is not counted.
    archive.deeds[URLS[20]] = withdrawn
    assert (await sweep(wiki, archive, DAY + 2 * STRIKE_DAYS + QUARTER_DAYS)).dropped == 1


async def test_a_stop_leaves_the_rest_for_tomorrow(wiki: WikiInStore, archive: MadeArchive) -> None:
    await keep(wiki, 40)
    stopped = asyncio.Event()

    def stopping(stamp: int, url: str) -> bytes:
        stopped.set()
        act = plays(stamp, url)
        assert isinstance(act, bytes)
        return act

    archive.usual = stopping
    async with open_local_client() as client:
        replays = Replays(client, archive.services)
        tally = await SnapshotRounds(wiki.pool, replays, now=lambda: Moment(DAY), stopped=stopped).sweep()
    assert tally.visited <= 4
    assert counts(await sweep(wiki, archive, DAY)) == {}
    assert (await sweep(wiki, archive, DAY + 1)).visited == 40 - tally.visited
