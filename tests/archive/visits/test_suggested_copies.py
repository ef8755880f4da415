"""Visits to suggested snapshots: only what plays raw is shown, whatever the archive's pages say (A-3, A-4)."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from support.archives import (
    Deed,
    MadeArchive,
    absent,
    busy,
    excluded,
    moved_to,
    no_moment,
    open_local_client,
    unavailable,
    walled,
    withdrawn,
)
from support.pywb import RealArchive
from support.stored import WikiInStore, key, open_wiki

from weboid.archive.service.replays import Replays
from weboid.archive.visits.suggestions import ARCHIVE_DAYS, DOUBTFUL_DAYS, STRIKES, SuggestedCopies
from weboid.core.archive.addresses import taken_of
from weboid.core.archive.configured import configured
from weboid.core.archive.services import ArchiveService
from weboid.core.url.archives import BY_NAME
from weboid.store.people.audit import list_audit
from weboid.store.people.replacement import PLAIN, find_replacements, record_replacement

DAY = 100
DEAD = "http://dead.demo/mill"
STAMP = 20110203040506
TARGET = f"https://web.archive.org/web/{STAMP}/{DEAD}"


@pytest.fixture
async def wiki(database: str) -> AsyncIterator[WikiInStore]:
    async with open_wiki(database, {1: [DEAD]}) as stored:
        yield stored


async def suggest(wiki: WikiInStore, target: str, archive: str = "wayback") -> None:
    number = BY_NAME[archive].number if archive else PLAIN
    assert await wiki.do(record_replacement, key(DEAD), archive=number, target=target, day=DAY, subject="7", name="Ann")


async def sweep(wiki: WikiInStore, services: tuple[ArchiveService, ...], day: int) -> int:
    async with open_local_client() as client:
        replays = Replays(client, services)
        copies = SuggestedCopies(wiki.pool, replays, today=lambda: day, stopped=asyncio.Event())
        return await copies.sweep()


async def state(wiki: WikiInStore) -> tuple[bool, int | None, int, int] | None:
    """Whether it works, the day of its visit, its strikes, the day of its next visit."""
    stored = next(iter(await wiki.do(find_replacements, key(DEAD))), None)
    return None if stored is None else (stored.works, stored.asked, stored.strikes, stored.due)


async def test_a_snapshot_that_plays_is_shown_and_visited_quarterly(wiki: WikiInStore, archive: MadeArchive) -> None:
    await suggest(wiki, TARGET)
    assert await sweep(wiki, archive.services, DAY) == 1
    assert await state(wiki) == (True, DAY, 0, DAY + ARCHIVE_DAYS)
    assert archive.played == [(STAMP, DEAD)]


@pytest.mark.parametrize("deed", [excluded, withdrawn])
async def test_one_that_is_withdrawn_is_deleted_at_once(wiki: WikiInStore, archive: MadeArchive, deed: Deed) -> None:
    await suggest(wiki, TARGET)
    await sweep(wiki, archive.services, DAY)
    archive.usual = deed
    await sweep(wiki, archive.services, DAY + ARCHIVE_DAYS)
    assert await state(wiki) is None
    assert [entry.detail for entry in await wiki.do(list_audit)] == [f"{TARGET} (gone)", f"{TARGET} (ok)"]


@pytest.mark.parametrize("deed", [absent, no_moment, moved_to(20190101000000)])
async def test_one_that_does_not_play_is_deleted_in_weeks(wiki: WikiInStore, archive: MadeArchive, deed: Deed) -> None:
    await suggest(wiki, TARGET)
    archive.usual = deed
    for strikes in range(1, STRIKES):
        day = DAY + (strikes - 1) * DOUBTFUL_DAYS
        await sweep(wiki, archive.services, day)
        assert await state(wiki) == (False, day, strikes, day + DOUBTFUL_DAYS)
    await sweep(wiki, archive.services, DAY + 2 * DOUBTFUL_DAYS)
    assert await state(wiki) is None


@pytest.mark.parametrize("deed", [unavailable, busy, walled])
async def test_what_proves_nothing_changes_nothing(wiki: WikiInStore, archive: MadeArchive, deed: Deed) -> None:
    await suggest(wiki, TARGET)
    await sweep(wiki, archive.services, DAY)
    archive.usual = deed
    day = DAY + ARCHIVE_DAYS
    await sweep(wiki, archive.services, day)
    assert await state(wiki) == (True, DAY, 0, day + 1)


async def test_frames_that_say_200_for_nothing_fool_nobody(wiki: WikiInStore, real_archive: RealArchive) -> None:
    public = "https://www.webarchive.org.uk/wayback/archive"
    services = configured(("ukwa",), {"ukwa": {"base": real_archive.framed, "public": public, "replay_per_minute": 0}})
    real_archive.add(DEAD, taken_of(STAMP), body=b"<title>The mill</title>" + b"oak " * 200)
    await suggest(wiki, f"{public}/{STAMP}/{DEAD}", archive="ukwa")
    await sweep(wiki, services, DAY)
    assert await state(wiki) == (True, DAY, 0, DAY + ARCHIVE_DAYS)
    real_archive.exclude(DEAD)
    await sweep(wiki, services, DAY + ARCHIVE_DAYS)
    assert await state(wiki) == (False, DAY + ARCHIVE_DAYS, 1, DAY + ARCHIVE_DAYS + DOUBTFUL_DAYS)
    real_archive.release(DEAD)
    real_archive.block(DEAD)
    await sweep(wiki, services, DAY + ARCHIVE_DAYS + DOUBTFUL_DAYS)
    assert await state(wiki) is None
