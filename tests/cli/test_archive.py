from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from support.archives import Copy, MadeArchive, open_made_archive
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
        place.environ |= archive.environ(per_minute)
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


@pytest.mark.parametrize("call", [["archive", "--once"], ["up"]])
async def test_half_a_key_for_saving_ends_it_before_a_store_is_touched(tmp_path: Path, call: list[str]) -> None:
    async with open_place(tmp_path, World({}), {}) as place:
        place.environ["WEBOID_ARCHIVE_SAVE_KEY"] = "half"
        ran = await place.run(*call)
        assert (ran.status, ran.out) == (2, "")
        assert "WEBOID_ARCHIVE_SAVE_SECRET is missing" in ran.err
        assert not (tmp_path / "data").exists()
