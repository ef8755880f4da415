"""Visits to suggested snapshots: only what plays raw is shown, whatever the archive's pages say (A-3, A-4)."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from support.archive_replay import open_archive_replay, read_recordings
from support.little_archive import (
    Deed,
    LittleArchive,
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
from support.shared import shared
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
    async with wiki.pool.connection() as conn:
        assert await record_replacement(
            conn, key(DEAD), archive=number, target=target, day=DAY, subject="7", name="Ann"
        )


async def sweep(wiki: WikiInStore, services: tuple[ArchiveService, ...], day: int) -> int:
    async with open_local_client() as client:
        replays = Replays(client, services)
        copies = SuggestedCopies(wiki.pool, replays, today=lambda: day, stopped=asyncio.Event())
        return await copies.sweep()


async def state(wiki: WikiInStore) -> tuple[bool, int | None, int, int] | None:
    """Whether it works, the day of its visit, its strikes, the day of its next visit."""
    async with wiki.pool.connection() as conn:
        told = next(iter(await find_replacements(conn, key(DEAD))), None)
    return None if told is None else (told.works, told.asked, told.strikes, told.due)


def wayback_at(base: str) -> tuple[ArchiveService, ...]:
    return configured(("wayback",), {"wayback": {"base": base, "public": "https://web.archive.org"}})


async def test_a_snapshot_that_plays_is_shown_and_visited_every_quarter(
    wiki: WikiInStore, archive: LittleArchive
) -> None:
    await suggest(wiki, TARGET)
    assert await sweep(wiki, archive.services, DAY) == 1
    assert await state(wiki) == (True, DAY, 0, DAY + ARCHIVE_DAYS)
    assert archive.played == [(STAMP, DEAD)]


@pytest.mark.parametrize("deed", [excluded, withdrawn])
async def test_one_that_is_withdrawn_is_deleted_at_once(wiki: WikiInStore, archive: LittleArchive, deed: Deed) -> None:
    await suggest(wiki, TARGET)
    await sweep(wiki, archive.services, DAY)
    archive.usual = deed
    await sweep(wiki, archive.services, DAY + ARCHIVE_DAYS)
    assert await state(wiki) is None
    async with wiki.pool.connection() as conn:
        assert [entry.detail for entry in await list_audit(conn)] == [f"{TARGET} (gone)", f"{TARGET} (ok)"]


@pytest.mark.parametrize("deed", [absent, no_moment, moved_to(20190101000000)])
async def test_one_that_does_not_play_is_never_shown_and_deleted_after_two_weeks(
    wiki: WikiInStore, archive: LittleArchive, deed: Deed
) -> None:
    await suggest(wiki, TARGET)
    archive.usual = deed
    for strikes in range(1, STRIKES):
        day = DAY + (strikes - 1) * DOUBTFUL_DAYS
        await sweep(wiki, archive.services, day)
        assert await state(wiki) == (False, day, strikes, day + DOUBTFUL_DAYS)
    await sweep(wiki, archive.services, DAY + 2 * DOUBTFUL_DAYS)
    assert await state(wiki) is None


@pytest.mark.parametrize("deed", [unavailable, busy, walled])
async def test_what_proves_nothing_changes_nothing(wiki: WikiInStore, archive: LittleArchive, deed: Deed) -> None:
    await suggest(wiki, TARGET)
    await sweep(wiki, archive.services, DAY)
    archive.usual = deed
    day = DAY + ARCHIVE_DAYS
    await sweep(wiki, archive.services, day)
    assert await state(wiki) == (True, DAY, 0, day + 1)


async def test_replacements_that_are_no_snapshots_are_left_to_the_link_checker(
    wiki: WikiInStore, archive: LittleArchive
) -> None:
    await suggest(wiki, "http://new.demo/", archive="")
    assert await sweep(wiki, archive.services, DAY) == 0


async def test_a_shortened_stamp_may_lead_to_a_copy_of_its_year(wiki: WikiInStore, archive: LittleArchive) -> None:
    await suggest(wiki, f"https://web.archive.org/web/2011/{DEAD}")
    archive.deeds[20110101000000] = moved_to(STAMP)
    await sweep(wiki, archive.services, DAY)
    assert await state(wiki) == (True, DAY, 0, DAY + ARCHIVE_DAYS)


async def test_an_excluded_site_that_answers_200_is_not_shown(database: str) -> None:
    recorded = read_recordings(shared("archives/wayback-memento-excluded-200.json"))
    cited = "https://nationalpost.com/health/"
    async with open_archive_replay(recorded) as replay, open_wiki(database, {1: [cited]}) as wiki:
        target = f"https://web.archive.org/web/20170929002712/{cited}"
        async with wiki.pool.connection() as conn:
            await record_replacement(conn, key(cited), archive=1, target=target, day=DAY, subject="7", name="Ann")
        assert await sweep(wiki, wayback_at(replay.url), DAY) == 1
        assert replay.unknown == []
        assert await wiki.rows("SELECT target FROM replacement") == []


@pytest.mark.parametrize("cited", ["none.example/", "excluded.example/secret", "blocked.example/secret"])
async def test_frames_that_answer_200_for_nothing_fool_nobody(wiki: WikiInStore, cited: str) -> None:
    recorded = read_recordings(shared("archives/pywb-framed-200-for-nothing.json"))
    public = "https://www.webarchive.org.uk/wayback/archive"
    await suggest(wiki, f"{public}/20170101000000/http://{cited}", archive="ukwa")
    async with open_archive_replay(recorded, loose=True) as replay:
        services = configured(("ukwa",), {"ukwa": {"base": f"{replay.url}/web", "public": public}})
        assert await sweep(wiki, services, DAY) == 1
        assert replay.unknown == []
    assert await state(wiki) == (None if "blocked" in cited else (False, DAY, 1, DAY + DOUBTFUL_DAYS))


async def test_the_frames_of_a_real_archive_fool_nobody_either(wiki: WikiInStore, real_archive: RealArchive) -> None:
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
