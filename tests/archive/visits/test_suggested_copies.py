"""Visits to suggested snapshots: only what plays raw is shown, whatever the archive's pages say (A-3, A-4)."""

import asyncio

from support.archives import MadeArchive, open_local_client
from support.pywb import RealArchive
from support.stored import WikiInStore, key

from weboid.archive.service.replays import Replays
from weboid.archive.visits.suggestions import ARCHIVE_DAYS, DOUBTFUL_DAYS, SuggestedCopies
from weboid.core.archive.addresses import taken_of
from weboid.core.archive.configured import configured
from weboid.core.archive.services import ArchiveService
from weboid.core.url.archives import BY_NAME
from weboid.store.people.replacement import PLAIN, find_replacements, record_replacement

DAY = 100
DEAD = "http://dead.demo/mill"
STAMP = 20110203040506
TARGET = f"https://web.archive.org/web/{STAMP}/{DEAD}"
IN_STORE = {1: [DEAD]}


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
