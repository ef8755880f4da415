"""A wiki that is silent, slow or broken costs the readers of other wikis nothing, and its own readers little (W-10)."""

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from statistics import median
from urllib.parse import parse_qs, urlsplit

import aiohttp
import pytest
from support.misbehaving import Act, Asked, HangUp, Script, Silence, serve
from support.misbehaving import Site as Server
from support.waiting import until

from weboid.store.pages.wiki import StoredWiki
from weboid.web.answer import silent_wikis
from weboid.web.answer.live import LiveReader
from weboid.wiki.action import ApiPatience
from weboid.wiki.api import ApiSource

BUDGET_S = 0.6
"""For a read; everything else is shorter too."""
BIG = 666
"""A page that cannot be read in time."""


@pytest.fixture(autouse=True)
def shorter(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_FIRST_REST_S", "_LONGEST_REST_S", "_CALM_S", "_LONG_S"):
        monkeypatch.setattr(silent_wikis, name, getattr(silent_wikis, name) / 20)


def pages_of(asked: Asked) -> list[int]:
    return [int(page) for page in parse_qs(urlsplit(asked.target).query)["pageids"][0].split("|")]


def answer_about(asked: Asked, **more: object) -> bytes:
    """The answer of a wiki about pages: that they are there and have a link."""
    pages = [
        {"pageid": page, "ns": 0, "title": f"P{page}", "contentmodel": "wikitext", "lastrevid": 1}
        | {"extlinks": [{"url": f"http://a.demo/{page}"}]}
        for page in pages_of(asked)
    ]
    body = json.dumps({"batchcomplete": True, "query": {"pages": pages}} | more).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def headers_and_no_more(asked: Asked) -> AsyncIterator[bytes]:
    yield answer_about(asked).partition(b"\r\n\r\n")[0] + b"\r\n\r\n"
    await asyncio.sleep(3600)


async def slowly(asked: Asked) -> AsyncIterator[bytes]:
    for byte in answer_about(asked):
        yield bytes([byte])
        await asyncio.sleep(0.05)


async def late(asked: Asked) -> AsyncIterator[bytes]:
    await asyncio.sleep(0.8 * BUDGET_S)
    yield answer_about(asked)


def busy(_: Asked) -> Act:
    return b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"


MISBEHAVING: dict[str, Script] = {
    "accepts and says nothing": lambda _: Silence(),
    "headers, then nothing": headers_and_no_more,
    "resets": lambda _: HangUp(reset=True),
    "hangs up": lambda _: HangUp(),
    "503 at once": busy,
    "a byte now and then": slowly,
    "late": late,
}


@dataclass
class Wikis:
    """A reader of several wikis; each runs a script."""

    reader: LiveReader
    servers: list[Server]
    times_s: dict[int, list[float]] = field(default_factory=dict)

    async def read(self, wiki: int, page: int) -> bool:
        """True if a page could be read live; its id is one more, as there is no page 0."""
        page += 1
        clock = asyncio.get_running_loop().time
        begun_s = clock()
        found = await self.reader.find_pages(StoredWiki(wiki, 1, f"wiki{wiki}", None, None, None), (page,))
        self.times_s.setdefault(wiki, []).append(clock() - begun_s)
        assert found is None or [each.page for each in found.values() if each is not None] == [page]
        return found is not None

    async def read_many(self, wiki: int, pages: range) -> list[bool]:
        return [await self.read(wiki, page) for page in pages]


@asynccontextmanager
async def opened(*scripts: Script, budget_s: float = BUDGET_S) -> AsyncIterator[Wikis]:
    patience = ApiPatience(tries=1, timeout_s=30)
    async with AsyncExitStack() as stack:
        servers = [await stack.enter_async_context(serve(script)) for script in scripts]
        session = await stack.enter_async_context(aiohttp.ClientSession())

        def source(wiki: StoredWiki) -> ApiSource:
            return ApiSource(servers[wiki.wiki].url("/api.php"), session, user_agent="test", patience=patience)

        reader = LiveReader(source, budget_s=budget_s)
        yield Wikis(reader, servers)
        await reader.close()


@pytest.mark.parametrize("name", ["accepts and says nothing", "resets", "a byte now and then", "late"])
async def test_one_bad_wiki_makes_the_readers_of_others_not_three_times_slower(name: str) -> None:
    async with opened(MISBEHAVING[name], answer_about) as wikis:
        alone = await asyncio.gather(*(wikis.read_many(1, range(begin, begin + 20)) for begin in range(0, 100, 20)))
        alone_s = median(wikis.times_s.pop(1))
        stopped = asyncio.Event()

        async def insist(begin: int) -> None:
            page = begin
            while not stopped.is_set():
                await wikis.read(0, page)
                page += 1
                await asyncio.sleep(0.01)

        readers = [asyncio.create_task(insist(1_000 * number)) for number in range(1, 61)]
        await asyncio.sleep(0.05)
        others = await asyncio.gather(*(wikis.read_many(1, range(begin, begin + 20)) for begin in range(0, 100, 20)))
        stopped.set()
        others_s = median(wikis.times_s[1])
        await asyncio.gather(*readers)
    # A few may have been late themselves, on a busy machine.
    assert min(sum(map(sum, alone)), sum(map(sum, others))) > 90
    # The machine may be busy: a silent wiki took its whole budget from others.
    assert others_s < max(3 * alone_s, BUDGET_S / 4)


async def test_after_a_few_failures_nobody_waits_and_a_probe_finds_the_wiki_back(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A wiki of each kind, all at the same time."""
    acting = [script for name, script in MISBEHAVING.items() if name != "late"]

    def of(number: int) -> Script:
        return lambda asked: acting[number](asked)

    kinds = range(len(acting))
    async with opened(*map(of, kinds)) as wikis:

        async def fall_silent(wiki: int) -> None:
            assert await asyncio.gather(*(wikis.read(wiki, page) for page in range(3))) == [False] * 3
            asked = len(wikis.servers[wiki].asked)
            wikis.times_s[wiki].clear()
            assert not any(await wikis.read_many(wiki, range(100)))
            assert median(wikis.times_s[wiki]) < 0.05
            assert len(wikis.servers[wiki].asked) <= asked + 5

        async def come_back(wiki: int) -> None:
            acting[wiki] = answer_about
            await until(lambda: wikis.read(wiki, 7))
            assert sum(await wikis.read_many(wiki, range(20))) > 17

        with caplog.at_level(logging.INFO, logger="weboid"):
            await asyncio.gather(*map(fall_silent, kinds))
            assert wikis.reader.silent == len(kinds)
            await asyncio.gather(*map(come_back, kinds))
        assert wikis.reader.silent == 0
    lines = sorted(record.getMessage() for record in caplog.records if record.name == silent_wikis.__name__)
    for wiki, (up, down) in enumerate(zip(lines[::2], lines[1::2], strict=True)):
        assert up.startswith(f"wiki{wiki} answers again, after ")
        assert down.startswith(f"wiki{wiki} does not answer: ")


async def test_those_who_wait_for_a_wiki_that_falls_silent_are_freed() -> None:
    async with opened(lambda _: Silence(), budget_s=1.5) as wikis:
        clock = asyncio.get_running_loop().time
        begun_s = clock()
        early = [asyncio.create_task(wikis.read(0, page)) for page in range(3)]
        await asyncio.sleep(1.0)
        rest = [asyncio.create_task(wikis.read(0, page)) for page in range(3, 40)]
        assert await asyncio.gather(*early, *rest) == [False] * 40
        assert clock() - begun_s < 2.45


async def test_a_page_that_is_too_big_to_be_read_in_time_says_nothing_of_its_wiki() -> None:
    async def next_part(asked: Asked) -> AsyncIterator[bytes]:
        await asyncio.sleep(0.05)
        part = len(asked.target)
        yield answer_about(asked, **{"continue": {"elcontinue": "x" * part, "continue": "||"}, "batchcomplete": None})

    def big(asked: Asked) -> Act:
        return next_part(asked) if pages_of(asked) == [BIG + 1] else answer_about(asked)

    async with opened(big) as wikis:
        found = []
        for page in range(6):
            assert not await wikis.read(0, BIG)
            found.append(await wikis.read(0, page))
        assert sum(found) >= 5
        assert wikis.reader.silent == 0
        # Its readers do not wait either, after the second.
        assert sum(time_s > BUDGET_S / 2 for time_s in wikis.times_s[0]) <= 4


async def test_what_is_late_because_this_process_was_busy_is_held_against_no_wiki() -> None:
    async with opened(lambda _: Silence()) as wikis:
        reading = [asyncio.create_task(wikis.read(0, page)) for page in range(5)]
        await asyncio.sleep(0.1)
        time.sleep(BUDGET_S + 0.1)  # noqa: ASYNC251 (that is what it is about)
        assert await asyncio.gather(*reading) == [False] * 5
        assert wikis.reader.silent == 0


async def test_a_wiki_that_refuses_is_no_silent_one() -> None:
    def refusing(_: Asked) -> Act:
        body = b'{"error": {"code": "readapidenied", "info": "no"}}'
        return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body

    async with opened(refusing) as wikis:
        assert not any(await wikis.read_many(0, range(5)))
        assert wikis.reader.silent == 0
