import asyncio
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.commands import Place
from support.eventmaker import change, links_added
from support.sseserver import EventServer, Turn, event_id, open_event_server
from support.stored import WikiInStore, key, open_wiki

from weboid.demo.littlewiki import open_littlewiki
from weboid.demo.wikipages import WikiLink, WikiPage
from weboid.feed.events import load_streams
from weboid.store.pages.stream import find_position

NAMES = load_streams().worthwhile(()).names
A, B, C = "https://a.sample.de/", "https://b.sample.de/", "https://c.sample.de/"
ONCE = ("--farm", "wmflabs", "--once")


@dataclass
class Fed(Place):
    """A place whose store follows a server of streams: `call` begins each command."""

    stored: WikiInStore = None  # type: ignore[assignment]
    server: EventServer = None  # type: ignore[assignment]

    @property
    def call(self) -> Sequence[str]:
        return "feed", "events", "--url", self.server.url

    async def until_at(self, number: int) -> None:
        async with asyncio.timeout(60):
            while not (at := await self.stored.do(find_position, NAMES)) or at.last_event_id != event_id(number):
                await asyncio.sleep(0.02)


@asynccontextmanager
async def fed(folder: Path, database: str, events: Sequence[Any], *turns: Turn) -> AsyncIterator[Fed]:
    pages = [WikiPage(1, "Page 1", (WikiLink(A),)), WikiPage(2, "Page 2", (WikiLink(C),))]
    environ = {"WEBOID_DATABASE": database, "WEBOID_NET_PERMIT": "127.0.0.0/8", "WEBOID_CONTACT": "me@example.org"}
    async with (
        open_littlewiki(pages) as wiki,
        open_wiki(database, {1: [A], 3: [A]}) as stored,
        open_event_server(events, *turns) as server,
    ):
        place = Fed(folder, environ=environ, stored=stored, server=server)
        place.watch("testwiki@wmflabs", wiki.api_url)
        try:
            yield place
        finally:
            await place.end()


async def test_once_takes_in_what_the_stream_tells_and_reads_new_pages(database: str, tmp_path: Path) -> None:
    events = [links_added(1, [B], 1), change("create", 2, 2), change("delete", 3, 3)]
    async with fed(tmp_path, database, events) as here:
        done = await here.run(*here.call, *ONCE)
        assert done.status == 0, done.err
        assert "3 events" in done.err
        assert "1 link came, 1 page went, 2 pages to read" in done.err
        links = {(page, url_key) for page, url_key in await here.stored.rows("SELECT page, url_key FROM link")}
        assert links == {(page, key(url).url_key) for page, url in ((1, A), (1, B), (2, C))}
        assert here.server.site.asked[0].headers["User-Agent"].endswith("; me@example.org)")


async def test_a_signal_ends_it_in_order_and_the_next_one_goes_on(database: str, tmp_path: Path) -> None:
    events = [change("edit", 1, 1), links_added(1, [B], 2)]
    async with fed(tmp_path, database, events, Turn(end="stall"), Turn()) as here:
        process = await here.start(*here.call, "--farm", "wmflabs")
        await here.until_at(1)
        process.send_signal(signal.SIGINT)
        _, errors = await asyncio.wait_for(process.communicate(), 60)
        assert process.returncode == 0, errors
        here.server.events.append('{"meta": {"domain": "canary"}}')
        again = await here.run(*here.call, *ONCE)
        assert "1 events" in again.err or "no event so far" in again.err, again.err
        assert here.server.begins == ["", "1"]
