"""Repairs of real articles by one process, and how long others wait meanwhile."""

import asyncio
import json
import sys
from itertools import islice
from typing import Final
from zlib import crc32

import pytest
from support.copies import keep_copies
from support.observations import FINE, LOST
from support.settled import settle
from support.shared import articles
from support.webservice import TODAY, Site, record_weeks

from weboid.bot.answers import key_of
from weboid.bot.page_links import page_links
from weboid.core.observe.observation import Observation
from weboid.core.wikitext.reader import read_wikitext
from weboid.store.archives.wiki_settings import shipped_settings
from weboid.wiki.source import PageLinks

_ARTICLES: Final = 200
_FIRST: Final = 1_000
_LEAST_A_MINUTE: Final = 100
_LONGEST_MS: Final = 300
"""Other tests run meanwhile. One repair within the loop takes as long as this by itself."""
_CALLERS: Final = """
import asyncio, json, sys, time
import aiohttp

async def main(url, texts):
    waits = []
    async with aiohttp.ClientSession() as client:
        async def ask(place):
            form = {"dbname": "testwiki@wmflabs", "pageid": str(1000 + place), "revid": "7", "text": texts[place]}
            async with client.post(url + "/api/repair", data=form) as response:
                assert response.status == 200, await response.text()
                return len((await response.json())["changes"])
        async def caller(first):
            return sum([await ask(place) for place in range(first, len(texts), 4)])
        async def look():
            while True:
                since = time.monotonic()
                async with client.get(url + "/healthz") as response:
                    assert response.status == 200
                waits.append(time.monotonic() - since)
                await asyncio.sleep(0.02)
        looking = asyncio.create_task(look())
        await asyncio.sleep(5)
        idle, begun = sorted(waits), time.monotonic()
        waits.clear()
        changes = sum(await asyncio.gather(*map(caller, range(4))))
        looking.cancel()
    waits.sort()
    p99, idle_p99 = (each[len(each) * 99 // 100] * 1000 for each in (waits, idle))
    print(json.dumps([time.monotonic() - begun, p99, idle_p99, changes]))

asyncio.run(main(sys.argv[1], json.loads(sys.stdin.read())))
"""


def _answer(url: str) -> Observation:
    return LOST if crc32(url.encode()) % 4 == 0 else FINE


@pytest.mark.long
async def test_a_hundred_articles_a_minute_are_repaired_during_other_work_and_nobody_waits(site: Site) -> None:
    texts = list(islice((text for text in articles("enwiki-2016") if len(text) > 2_000), _ARTICLES))
    settings = shipped_settings("enwiki")
    assert settings is not None
    await settle(site)
    pages = {}
    for page, text in enumerate(texts, start=_FIRST):
        written = {link.url for link in page_links(read_wikitext(text), settings, "")}
        urls = pages[page] = sorted(url for url in written if key_of(url))
        site.source.found[page] = PageLinks(page, 0, f"Page {page}", 7, None, tuple(urls))
    await site.wiki.take_in(pages, 100)
    every = sorted({key for urls in pages.values() for url in urls if (key := key_of(url))})
    async with site.wiki.pool.connection() as conn:
        await record_weeks(conn, every, _answer)
    for key in (key for key in every if _answer(key) is LOST):
        await keep_copies(site.wiki.pool, key, day=TODAY, snapshots=["wayback"])
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _CALLERS, site.url), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    said, _ = await process.communicate(json.dumps(texts).encode())
    seconds, wait_ms, idle_ms, changes = json.loads(said)
    pace = 60 * len(texts) / seconds
    print(f"{pace:.0f} a minute, {changes} changes; /healthz p99 {wait_ms:.0f} ms, without repairs {idle_ms:.0f} ms")
    assert changes > 500
    assert pace >= _LEAST_A_MINUTE
    assert wait_ms <= max(_LONGEST_MS, 3 * idle_ms), "on a busy machine all wait"
