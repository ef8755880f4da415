"""A loopback server of event streams on raw sockets, which misbehaves as scripted.

One law: by default it does what Wikimedia's does: it resumes after ``Last-Event-ID``, begins at ``since``, and
otherwise sends what happens next (here: all its events).
"""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from support.misbehaving import Act, Asked, Site, reply, serve

_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n"
    b"Cache-Control: no-cache\r\n\r\n"
)


@dataclass(frozen=True)
class Turn:
    """What one connection gets. `raw` comes before the events; of these at most `count`; then the `end`.

    `again` events before the place asked for are given once more. `status` other than 200: nothing but that, with
    `headers` and `raw`.
    """

    status: int = 200
    headers: tuple[str, ...] = ()
    raw: bytes = b""
    count: int | None = None
    end: Literal["clean", "abort", "mid-event", "stall"] = "clean"
    again: int = 0
    content_type: str = "text/event-stream"
    block: int = 1 << 14


@dataclass
class EventServer:
    """A running server: its events, and what it was asked. The last of the `turns` stays."""

    site: Site
    events: list[str]
    turns: list[Turn] = field(default_factory=list)

    @property
    def url(self) -> str:
        return self.site.url("/v2/stream")

    @property
    def begins(self) -> list[str]:
        """Where each connection asked to begin: an event's number, a moment, or nothing."""
        return [_asked_for(asked) for asked in self.site.asked]


def event_id(number: int) -> str:
    return json.dumps(
        [
            {"topic": "eqiad.sample", "partition": 0, "offset": number},
            {"topic": "codfw.sample", "partition": 0, "offset": -1},
        ]
    )


def as_sent(number: int, data: str) -> bytes:
    return f"event: message\nid: {event_id(number)}\ndata: {data}\n\n".encode("utf-8", "surrogatepass")


@asynccontextmanager
async def open_event_server(events: Sequence[Any], *turns: Turn) -> AsyncIterator[EventServer]:
    """Serves events (texts, or what becomes JSON) until the block ends."""
    texts = [each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in events]
    server: EventServer

    def script(asked: Asked) -> Act:
        turn = server.turns[0] if len(server.turns) == 1 else server.turns.pop(0)
        if turn.status != 200:
            return reply(turn.status, *turn.headers, body=turn.raw or b"{}", kind="application/json")
        if turn.content_type != "text/event-stream":
            return reply(200, body=b"<p>Hello</p>", kind=turn.content_type)
        return _reported(turn, server.events, asked)

    async with serve(script) as site:
        server = EventServer(site, texts, list(turns) or [Turn()])
        yield server


async def _reported(turn: Turn, events: list[str], asked: Asked) -> AsyncIterator[bytes]:
    given = _asked_for(asked)
    begin = max(0, int(given) + 1 - turn.again) if given.isdigit() else 0
    end = len(events) if turn.count is None else min(len(events), begin + turn.count)
    yield _HEAD + _chunk(b":ok\n\n" + turn.raw)
    text = b"".join(as_sent(number, events[number]) for number in range(begin, end))
    if turn.end == "mid-event":
        text += as_sent(end, events[end])[:-20] if end < len(events) else b"event: message\ndata: {"
    for at in range(0, len(text), turn.block):
        yield _chunk(text[at : at + turn.block])
    if turn.end == "clean":
        yield b"0\r\n\r\n"
    if turn.end == "stall":
        await asyncio.sleep(3600)


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data) if data else b""


def _asked_for(asked: Asked) -> str:
    if given := asked.headers.get("Last-Event-ID"):
        try:
            return str(json.loads(given)[0]["offset"])
        except (ValueError, TypeError, KeyError):
            return given
    return asked.target.partition("since=")[2]
