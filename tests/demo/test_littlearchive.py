"""The little archive answers as the one it stands for, day by day; most of it tests of ``archive`` show."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import aiohttp
import pytest
from support.demo_truth import ground_truth

from weboid.core.archive.addresses import index_request, reader_address, replay_address
from weboid.core.archive.captures import ServiceReply
from weboid.core.archive.configured import configured
from weboid.core.archive.listings import listing_of
from weboid.core.archive.outcomes import LookupOutcome
from weboid.core.archive.replay import ReplayResult, replay_of
from weboid.core.url.urls import parse
from weboid.demo.littlearchive import LittleArchive, open_littlearchive
from weboid.demo.story import CAPTURED, CITED, EXCLUDED, EXPECTED, demo_captures, demo_excluded

FIRST = 3_500
URL = "http://tidalmill.demo/opening-hours"
FARES = "http://ferryline.demo/fares"
FIGUREHEAD = "http://museum.demo/object/77"
WANTED = datetime(2026, 8, 1, tzinfo=UTC)


class Reader:
    """What the program makes of the archive's answers on a day."""

    def __init__(self, little: LittleArchive, client: aiohttp.ClientSession) -> None:
        self.little = little
        self.client = client
        self.day = FIRST + 30
        (self.service,) = configured(["wayback"], {"wayback": {"base": little.url, "public": little.url}})

    async def reply(self, address: str) -> ServiceReply:
        async with self.client.get(address, allow_redirects=False) as response:
            headers = {name.lower(): value for name, value in response.headers.items()}
            return ServiceReply(response.status, headers, await response.read())

    async def listing(self, url: str) -> LookupOutcome:
        listing = listing_of(
            self.service, await self.reply(index_request(self.service, parse(url), WANTED)), parse(url)
        )
        return listing.outcome

    async def replay(self, url: str, stamp: str) -> ReplayResult:
        reply = await self.reply(replay_address(self.service, int(stamp), parse(url)))
        return replay_of(reply, stamp=int(stamp), url=parse(url), service=self.service).result

    def stamp(self, url: str) -> str:
        return next(one.stamp for one in self.little.captures if one.url == url)


@pytest.fixture
async def reader() -> AsyncIterator[Reader]:
    found: list[Reader] = []
    archive = open_littlearchive(
        demo_captures(FIRST, str), day=lambda: found[0].day, excluded=demo_excluded(FIRST, str)
    )
    async with archive as little, aiohttp.ClientSession() as client:
        found.append(Reader(little, client))
        yield found[0]


async def test_what_it_has_is_listed_played_and_shown_to_readers_once_it_is_captured(reader: Reader) -> None:
    assert await reader.listing(URL) is LookupOutcome.FOUND
    assert await reader.replay(URL, reader.stamp(URL)) is ReplayResult.PLAYS
    page = await reader.reply(reader_address(reader.service, int(reader.stamp(URL)), URL))
    assert b"<title>Opening hours</title>" in page.body
    assert b"as it was on" in page.body
    assert len(reader.little.captures_of(URL)) == 4
    reader.day = FIRST
    assert len(reader.little.captures_of(URL)) == 2


async def test_what_is_excluded_is_not_shown_from_its_day_on_though_the_answer_is_200(reader: Reader) -> None:
    assert await reader.listing(FARES) is LookupOutcome.EXCLUDED
    page = await reader.reply(f"{reader.little.url}/web/{reader.stamp(FARES)}/{FARES}")
    assert (page.code, "memento-datetime" in page.headers) == (200, False)
    assert await reader.replay(FARES, reader.stamp(FARES)) is ReplayResult.WITHDRAWN
    assert await reader.replay(FIGUREHEAD, reader.stamp(FIGUREHEAD)) is ReplayResult.PLAYS
    reader.day = FIRST + EXCLUDED[FIGUREHEAD]
    assert await reader.replay(FIGUREHEAD, reader.stamp(FIGUREHEAD)) is ReplayResult.WITHDRAWN


async def test_another_moment_leads_to_the_nearest_one(reader: Reader) -> None:
    stamp, url, _ = CITED
    reply = await reader.reply(f"{reader.little.url}/web/2019id_/{url}")
    assert (reply.code, reply.headers["location"]) == (302, f"{reader.little.url}/web/{stamp}id_/{url}")
    assert "memento-datetime" not in reply.headers


def test_all_that_is_captured_is_linked_in_the_story() -> None:
    linked = ground_truth(str).keys()
    assert {*CAPTURED, *EXCLUDED, *EXPECTED, CITED[1]} <= linked
