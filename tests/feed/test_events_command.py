"""``weboid feed events`` as a process: follows, reads again what was handed in, stops when told, goes on later."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.eventmaker import change, links_added
from support.sseserver import EventServer, Turn, event_id, open_event_server
from support.stored import WikiInStore, key, open_wiki

from weboid.demo.littlewiki import open_littlewiki
from weboid.demo.wikipages import WikiLink, WikiPage
from weboid.feed.events import load_streams
from weboid.store.pages.stream import find_position

NAMES = load_streams().worthwhile(()).names
A, B, C = "https://a.sample.de/", "https://b.sample.de/", "https://c.sample.de/"


@dataclass
class Place:
    """A store, a wiki and a server of streams, and a folder where Weboid is configured for them."""

    folder: Path
    database: str
    stored: WikiInStore
    server: EventServer

    async def start(self, *words: str) -> asyncio.subprocess.Process:
        """Starts following."""
        environ = {name: value for name, value in os.environ.items() if not name.startswith("WEBOID_")}
        environ |= {
            "WEBOID_DATABASE": self.database,
            "WEBOID_NET_PERMIT": "127.0.0.0/8",
            "WEBOID_CONTACT": "me@example.org",
        }
        call = ("-m", "weboid", "feed", "events", "--farm", "wmflabs", "--url", self.server.url, *words)
        root = str(Path(__file__).resolve().parents[2])
        return await asyncio.create_subprocess_exec(
            sys.executable, *call, cwd=self.folder, env={**environ, "PYTHONPATH": root}, stderr=asyncio.subprocess.PIPE
        )

    async def has_come_to(self, number: int) -> bool:
        async with self.stored.pool.connection() as conn:
            position = await find_position(conn, NAMES)
        return bool(position and position.last_event_id == event_id(number))


@asynccontextmanager
async def place(folder: Path, database: str, events: Sequence[Any], *turns: Turn) -> AsyncIterator[Place]:
    pages = [WikiPage(1, "Page 1", (WikiLink(A),)), WikiPage(2, "Page 2", (WikiLink(C),))]
    async with (
        open_littlewiki(pages) as wiki,
        open_wiki(database, {1: [A], 3: [A]}) as stored,
        open_event_server(events, *turns) as server,
    ):
        (folder / "weboid.toml").write_text(f'[wiki."testwiki@wmflabs"]\napi = "{wiki.api_url}"\n', encoding="utf-8")
        yield Place(folder, database, stored, server)


def use(page: int, url: str) -> tuple[int, int]:
    return page, key(url).url_key


async def test_once_takes_in_what_the_stream_tells_and_reads_new_pages(database: str, tmp_path: Path) -> None:
    events = [links_added(1, [B], 1), change("create", 2, 2), change("delete", 3, 3)]
    async with place(tmp_path, database, events) as here:
        process = await here.start("--once")
        _, errors = await asyncio.wait_for(process.communicate(), 60)
        assert process.returncode == 0, errors
        assert "3 events" in errors.decode()
        assert "1 links came, 1 pages went, 2 pages to read" in errors.decode()
        assert set(await here.stored.rows("SELECT page, url_key FROM link")) == {use(1, A), use(1, B), use(2, C)}
        assert here.server.site.asked[0].headers["User-Agent"].endswith("; me@example.org)")


@pytest.mark.parametrize("kind", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_in_order_and_the_next_one_goes_on(
    database: str, tmp_path: Path, kind: signal.Signals
) -> None:
    events = [change("edit", 1, 1), links_added(1, [B], 2)]
    async with place(tmp_path, database, events, Turn(end="stall"), Turn()) as here:
        process = await here.start()
        for _ in range(600):
            if await here.has_come_to(1):
                break
            await asyncio.sleep(0.05)
        process.send_signal(kind)
        _, errors = await asyncio.wait_for(process.communicate(), 60)
        assert process.returncode == 0, errors
        here.server.events.append('{"meta": {"domain": "canary"}}')
        again = await here.start("--once")
        _, errors = await asyncio.wait_for(again.communicate(), 60)
        assert "1 events" in errors.decode() or "no event so far" in errors.decode(), errors
        assert here.server.begins == ["", "1"]


async def test_streams_that_do_not_exist_and_wikis_that_are_not_configured_are_told(
    database: str, tmp_path: Path
) -> None:
    async with place(tmp_path, database, [], Turn(404)) as here:
        process = await here.start()
        _, errors = await asyncio.wait_for(process.communicate(), 60)
        assert process.returncode != 0
        assert "HTTP 404: it has no such streams" in errors.decode()
        process = await here.start("--farm", "WMF")
        _, errors = await asyncio.wait_for(process.communicate(), 60)
        assert process.returncode != 0
        assert "no wiki of WMF is configured" in errors.decode()
