import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from support.archives import Copy, MadeArchive, open_made_archive, rate_limited
from support.commands import Place, open_place
from support.observations import FINE, LOST
from support.stored import WikiInStore, open_wiki

from weboid.demo.world import World

CAME, DAY = 100, 130
OLD = 20170401120000
URLS = [f"http://site{number}.demo/page" for number in range(12)]
CALL = ("archive", "--once", "--day", str(DAY))


@pytest.fixture
async def wiki(database: str) -> AsyncIterator[WikiInStore]:
    async with open_wiki(database, {1: URLS}, day=CAME) as wiki:
        await wiki.round(CAME, lambda url, day: FINE)
        await wiki.round(DAY, lambda url, day: LOST)
        yield wiki


@pytest.fixture
async def place(tmp_path: Path, database: str) -> AsyncIterator[Place]:
    async with open_place(tmp_path, World({}), {}) as place:
        place.environ["WEBOID_DATABASE"] = database
        place.environ["WEBOID_NET_ANSWER_S"] = "30"
        yield place


@asynccontextmanager
async def archive_at(place: Place, per_minute: int = 0) -> AsyncIterator[MadeArchive]:
    """The only archive of the configuration; it has a copy of all but the last URL."""
    async with open_made_archive({url: [Copy(OLD)] for url in URLS[:-1]}) as archive:
        place.environ |= {
            "WEBOID_ARCHIVE_SERVICES": "wayback",
            "WEBOID_ARCHIVE_WAYBACK_BASE": archive.base,
            "WEBOID_ARCHIVE_WAYBACK_PER_MINUTE": str(per_minute),
            "WEBOID_ARCHIVE_WAYBACK_REPLAY_PER_MINUTE": "0",
        }
        yield archive


async def found(wiki: WikiInStore) -> int:
    return len(await wiki.rows("SELECT url_key FROM snapshot"))


async def test_once_looks_all_up_and_says_what_was_found(place: Place, wiki: WikiInStore) -> None:
    async with archive_at(place) as archive:
        ran = await place.run(*CALL)
        assert (ran.status, await found(wiki)) == (0, 11)
        assert "12 URLs looked up with 24 requests" in " ".join(ran.err.split())
        assert "11 found, 1 none" in " ".join(ran.err.split())
        asked = len(archive.site.asked)
        assert (await place.run(*CALL)).status == 0
        assert len(archive.site.asked) == asked


@pytest.mark.long
async def test_a_kill_loses_nothing_and_a_stop_ends_in_order(place: Place, wiki: WikiInStore) -> None:
    async with archive_at(place, per_minute=300) as archive, asyncio.timeout(60):
        process = await place.start("archive", "--day", str(DAY))
        await _asked(archive, 3)
        process.kill()
        await process.communicate()
        assert await found(wiki) < 11
        # What it held is free when its leases have ended: here they are ended for it.
        await wiki.execute("UPDATE copy_queue SET until = '-infinity'")
        process = await place.start("archive", "--day", str(DAY))
        await _asked(archive, len(archive.site.asked) + 2)
        process.send_signal(signal.SIGTERM)
        _, err = await process.communicate()
        assert process.returncode == 0, err.decode()
        assert b"looked up" in err
        # What was not under way was given back.
        assert (await place.run(*CALL)).status == 0
        assert await found(wiki) == 11


async def _asked(archive: MadeArchive, count: int) -> None:
    while len(archive.site.asked) < count:
        await asyncio.sleep(0.02)


async def test_a_throttling_archive_ends_it_with_a_word_and_all_waiting(place: Place, wiki: WikiInStore) -> None:
    async with archive_at(place) as archive:
        archive.act = lambda asked: rate_limited("600")
        ran = await place.run(*CALL)
        assert (ran.status, await found(wiki)) == (0, 0)
        assert "wayback" in ran.err
        assert "stays in the queue" in " ".join(ran.err.split())
        asked = len(archive.site.asked)
        assert asked <= 12
        assert (await place.run(*CALL)).status == 0
        assert len(archive.site.asked) == asked
    assert "archive-rests" in (await place.run("maintain", "--day", str(DAY))).err


@pytest.mark.parametrize("call", [["archive", "--once"], ["up"]])
async def test_half_a_key_for_saving_ends_it_before_a_store_is_touched(tmp_path: Path, call: list[str]) -> None:
    async with open_place(tmp_path, World({}), {}) as place:
        place.environ["WEBOID_ARCHIVE_SAVE_KEY"] = "half"
        ran = await place.run(*call)
        assert (ran.status, ran.out) == (2, "")
        assert "WEBOID_ARCHIVE_SAVE_SECRET is missing" in ran.err
        assert not (tmp_path / "data").exists()
