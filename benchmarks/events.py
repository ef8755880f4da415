"""``python -m benchmarks.events``: events a second that take effect on a store, beside a bare reader of the stream.

The bare reader feeds every block to `sseclient`, parses the JSON and forgets it. Both read from a server in a process
of its own; the store is the embedded PostgreSQL with its usual durability.
"""

import argparse
import asyncio
import json
import multiprocessing
import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter
from typing import Any
from urllib.parse import quote

import aiohttp
import sseclient
from aiohttp import web

from weboid.central.feed.feed_on_store import store_feed
from weboid.core.url.farms import WMFLABS, WikiName
from weboid.feed.effects import FollowedWiki
from weboid.feed.events import load_streams
from weboid.feed.following import Following
from weboid.feed.intake import page_urls
from weboid.feed.stream import EventStream, Splitter
from weboid.store.db.migrate import migrate
from weboid.store.db.pool import open_pool
from weboid.store.embedded.server import open_server
from weboid.store.pages.page import record_pages
from weboid.store.pages.wiki import record_wiki
from weboid.wiki.source import PageLinks

_NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
_BLOCK = 1 << 16


def main() -> None:
    """Make a stream, read it barely, follow it, print events/s and the ratio."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--events", type=int, default=30_000)
    options.add_argument("--pages", type=int, default=20_000, help="watched pages")
    options.add_argument("--ours", type=float, default=1.0, help="the share of events of a followed wiki")
    asked = options.parse_args()
    stream = stream_of(asked.events, asked.pages, asked.ours)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        with open_server(Path(folder) / "data") as server, _served(stream) as url:
            print(f"{asked.events:,} events ({len(stream) >> 20} MiB), {asked.ours:.0%} of a followed wiki; events/s:")
            asyncio.run(measure(url, server.dsn, asked.events, asked.pages))


async def measure(url: str, dsn: str, events: int, pages: int) -> tuple[float, float]:
    """Reads the stream both ways and prints; returns events/s of the bare reader and of the follower."""
    bare = await _bare(url, events)
    followed, told = await _followed(url, dsn, events, pages)
    print(f"{'bare reader (sseclient, json)':34}{bare:12,.0f}")
    print(f"{'applied to the store':34}{followed:12,.0f}   {followed / bare:.1%} of bare")
    print(f"{told}; {pages:,} pages were watched")
    return bare, followed


def stream_of(events: int, pages: int, ours: float) -> bytes:
    """A stream in Wikimedia's form: 5 in 8 events add links, the others tell of new, moved, deleted pages and edits."""
    chance = random.Random(1)
    return b"".join(_event(chance, number, pages, ours) for number in range(events))


def _event(chance: random.Random, number: int, pages: int, ours: float) -> bytes:
    wiki = "testwiki" if chance.random() < ours else f"other{chance.randrange(300)}wiki"
    page = chance.randrange(1, 2 * pages)
    moment = (_NOON + timedelta(milliseconds=10 * number)).isoformat()
    throw = chance.random()
    links = throw < 0.625
    stream = "mediawiki.page-links-change" if links else "mediawiki.page_change.v1"
    meta = {"stream": stream, "dt": moment, "domain": "test.sample.org", "id": f"{chance.getrandbits(128):x}"}
    meta |= {"request_id": f"{chance.getrandbits(128):x}", "uri": f"https://test.sample.org/wiki/Page_{page}"}
    value: dict[str, Any] = {
        "$schema": "/sample/1.0.0",
        "meta": meta,
        "performer": {"user_text": "Nobody", "groups": ["*"]},
    }
    if links:
        added = [
            {"link": f"/wiki/Inner_{chance.randrange(999)}", "external": False} for _ in range(chance.randrange(6))
        ]
        added += [{"link": quote(_url(chance), safe="/:"), "external": True} for _ in range(chance.randrange(1, 4))]
        value |= {
            "database": wiki,
            "page_id": page,
            "page_title": f"Page_{page}",
            "page_namespace": 0,
            "rev_id": number,
        }
        value |= {"added_links": added}
    else:
        kind = "edit" if throw < 0.85 else chance.choice(["create", "create", "move", "delete", "undelete"])
        facts = {"page_id": page, "page_title": f"Page_{page}", "namespace_id": 0, "is_redirect": False}
        slots = {"main": {"content_model": "wikitext", "content_size": 4711, "slot_role": "main"}}
        value |= {"wiki_id": wiki, "page_change_kind": kind, "page": facts, "revision": {"content_slots": slots}}
    stamp = int((_NOON.timestamp() + number / 100) * 1000)
    place = json.dumps(
        [{"topic": f"eqiad.{stream}", "partition": 0, "timestamp": stamp}, {"topic": "codfw", "offset": -1}]
    )
    return f"event: message\nid: {place}\ndata: {json.dumps(value)}\n\n".encode()


def _url(chance: random.Random) -> str:
    return f"https://www.site{chance.randrange(5_000)}.de/news/{chance.getrandbits(40):x}?page={chance.randrange(9)}"


@contextmanager
def _served(stream: bytes) -> Iterator[str]:
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(theirs, stream), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{ours.recv()}/v2/stream"
    finally:
        process.terminate()
        process.join()


def _serve(told: Connection, stream: bytes) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b":ok\n\n")
        for at in range(0, len(stream), _BLOCK):
            await response.write(stream[at : at + _BLOCK])
        return response

    async def run() -> None:
        app = web.Application()
        app.router.add_get("/v2/stream/{names}", answer)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        told.send(runner.addresses[0][1])
        await asyncio.Event().wait()

    asyncio.run(run())


async def _bare(url: str, events: int) -> float:
    begun, read = perf_counter(), 0
    splitter = Splitter(1 << 20)
    async with aiohttp.ClientSession() as client, client.get(f"{url}/bare") as response:
        while block := await response.content.readany():
            for event in sseclient.SSEClient(iter((splitter.complete(block),))).events():
                json.loads(event.data)
                read += 1
    assert read == events
    return read / (perf_counter() - begun)


async def _followed(url: str, dsn: str, events: int, pages: int) -> tuple[float, str]:
    chance = random.Random(2)
    async with open_pool(dsn, size=2, part="benchmark") as pool, aiohttp.ClientSession() as client:
        async with pool.connection() as conn:
            await migrate(conn)
            wiki = await record_wiki(conn, WMFLABS, WikiName("testwiki", "wmflabs"))
        for first in range(1, pages + 1, 500):
            numbers = range(first, min(first + 500, pages + 1))
            links = [PageLinks(page, 0, f"Page {page}", 1, None, (_url(chance), _url(chance))) for page in numbers]
            async with pool.connection() as conn:
                await record_pages(conn, wiki.wiki, [page_urls(each, WMFLABS) for each in links], 100)

        def open_stream(names: str) -> EventStream:
            return EventStream(url, names, client, user_agent="Weboid-benchmark")

        followed = {"testwiki": FollowedWiki(wiki.wiki, WMFLABS, lambda page: page.namespace == 0)}
        far = _NOON + timedelta(days=3650)
        following = Following(
            store_feed(pool), open_stream, load_streams(), followed, today=lambda: 200, now=lambda: far
        )
        begun = perf_counter()
        done = await following.run(once=True)
        spent_s = perf_counter() - begun
    assert done.events == events
    told = f"{done.intake.links_new:,} links came, {done.intake.pages_gone:,} pages went, {done.handed_in:,} wait"
    return events / spent_s, told


if __name__ == "__main__":
    main()
