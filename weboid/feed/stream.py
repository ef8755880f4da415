"""One connection to EventStreams (P-6): server-sent events in, batches of raw events out.

Whatever the server does, reading goes on where it was, in bounded memory, and never faster than it allows.
``feed/events`` parses the events.
"""

import asyncio
import contextlib
import json
import logging
import random
import re
from collections import Counter, deque
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

import aiohttp
import sseclient

from weboid.core.observe.retry_after import retry_after_s
from weboid.errors import NotContacted, SourceError
from weboid.mechanism.pauses import GrowingPause
from weboid.net.guard import refusal_in

log = logging.getLogger(__name__)

_BLANK_LINES: Final = (b"\n\n", b"\r\r", b"\r\n\r\n")
_COMMENT: Final = re.compile(rb"(?:\A|(?<=[\r\n])):[^\r\n]*(\r\n|\n|\r(?=[^\n])|\r?\Z)")
"""A comment with the end of its line, as far as it has come."""
_UNKNOWN: Final = re.compile(rb"Invalid streams: ([\w.,-]+)")
"""In the answer of EventStreams to a list with streams that it does not have."""
_LONGEST_ID: Final = 16_384
_OVERLAP: Final = timedelta(minutes=10)
"""Events of several topics do not come in the exact order of their moments."""
_LATE_MS: Final = 2_000
"""Events of one topic are in the order of their moments but for so much."""
_LONGEST_REPLAY: Final = timedelta(days=1)
"""For a topic that has been silent for longer, events are not requested from further back."""


class RawEvent(NamedTuple):
    """An event as received: `id` is the server's id to resume after it, empty if the server gave none."""

    id: str
    data: str


class StreamStart(NamedTuple):
    """The place to begin: after the event with that id, or at a moment, or (if neither is known) with the next one."""

    last_event_id: str = ""
    moment: datetime | None = None


@dataclass(frozen=True, slots=True)
class StreamLimits:
    """The limits of a connection. `queue_*` bound what is read and not yet taken; an event longer than `event_bytes` is
    skipped."""

    stall_s: float = 60.0
    """Silence after which a connection counts as dead: the server promises no heartbeat."""
    connect_s: float = 30.0
    first_pause_s: float = 1.0
    longest_pause_s: float = 300.0
    settled_s: float = 60.0
    """A connection that ends after at least so long (the server ends each after 15 minutes) is opened again at once."""
    batch_events: int = 500
    batch_s: float = 1.0
    queue_events: int = 2_000
    queue_bytes: int = 16 << 20
    event_bytes: int = 1 << 20


class _Refused(Exception):
    """HTTP 400, or 404 for a topic that is no more: the position to resume at is not accepted."""


class UnknownStreams(SourceError):
    """The server has no longer the streams `names`, or never had them; it refuses to send the others with them."""

    def __init__(self, url: str, names: frozenset[str]) -> None:
        super().__init__(f"{url} has no stream {', '.join(sorted(names))}")
        self.names = names


class _Failed(Exception):
    """The connection failed; another try may help, after so many seconds if the server named them."""

    def __init__(self, reason: str, pause_s: float | None = None) -> None:
        super().__init__(reason)
        self.pause_s = pause_s


class EventStream:
    """A comma-separated list of streams at a server. Which addresses may be contacted is decided by the given client.

    `counts` has what happened: connections, ends, failures, refused, gaps, errors, oversized.
    """

    def __init__(
        self,
        url: str,
        streams: str,
        client: aiohttp.ClientSession,
        *,
        user_agent: str,
        limits: StreamLimits | None = None,
    ) -> None:
        self._url = f"{url.rstrip('/')}/{streams}"
        self._client = client
        self._user_agent = user_agent
        self._limits = limits or StreamLimits()
        self._begin = StreamStart()
        self.counts: Counter[str] = Counter()

    async def batches(self, begin: StreamStart, *, once: bool = False) -> AsyncGenerator[list[RawEvent], None]:
        """Events in batches of `batch_events`, or of fewer (or none) after `batch_s` seconds.

        Goes on without end; with `once` until the server ends a stream in order. Raises SourceError if another try
        cannot help: unknown streams, a wrong address.
        """
        self._begin = begin
        backlog = _Backlog(self._limits)
        reader = asyncio.create_task(self._read_on(backlog, once))
        reader.add_done_callback(lambda done: backlog.end())
        try:
            while not backlog.is_over:
                yield await backlog.take()
            await reader
        finally:
            reader.cancel()
            await asyncio.gather(reader, return_exceptions=True)

    async def _read_on(self, backlog: "_Backlog", once: bool) -> None:
        pause = GrowingPause(self._limits.first_pause_s, self._limits.longest_pause_s)
        loop = asyncio.get_running_loop()
        while True:
            opened, before = loop.time(), self._begin
            wanted_s = None
            try:
                await self._follow(backlog)
                self.counts["ends"] += 1
                if once:
                    return
            except _Refused:
                self._step_back()
                continue
            except _Failed as failure:
                self.counts["failures"] += 1
                log.info("%s: %s", self._url, failure)
                wanted_s = failure.pause_s
            if self._begin != before:
                pause.reset()
                if wanted_s is None and loop.time() - opened >= self._limits.settled_s:
                    continue
            await asyncio.sleep(spread_pause_s(pause.grown_s(), wanted_s))

    def _step_back(self) -> None:
        self.counts["refused"] += 1
        last_event_id, moment = self._begin
        if last_event_id and (since := since_of(last_event_id, moment)):
            self._begin = StreamStart("", since)
            log.warning("%s: the stored position was refused; reading again since %s", self._url, since.isoformat())
        elif last_event_id or moment:
            self.counts["gaps"] += 1
            self._begin = StreamStart()
            log.warning("%s: past events are no longer available; pages changed meanwhile wait for a pass", self._url)
        else:
            raise SourceError(f"{self._url} answers HTTP 400; correct the address of the event streams")

    async def _follow(self, backlog: "_Backlog") -> None:
        """Reads one connection until it ends in order; raises _Refused, _Failed, SourceError."""
        last_event_id, moment = self._begin
        headers = {"User-Agent": self._user_agent, "Accept": "text/event-stream"}
        query = {}
        if last_event_id:
            headers["Last-Event-ID"] = resuming_id(last_event_id)
        elif moment:
            query["since"] = moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        try:
            # Redirects are not followed: they would lead to a server that is not configured.
            async with asyncio.timeout(self._limits.connect_s):
                response = await self._client.get(
                    self._url,
                    params=query,
                    headers=headers,
                    timeout=aiohttp.ClientTimeout(total=None),
                    allow_redirects=False,
                )
            with contextlib.closing(response):  # dropped, because the stream itself never ends
                await self._check(response)
                self.counts["connections"] += 1
                await self._read(response, backlog)
        except TimeoutError:
            raise _Failed(f"silent for {self._limits.stall_s:g} s, or no answer") from None
        except (aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError) as error:
            raise SourceError(f"{self._url} is no URL; correct the address of the event streams") from error
        except (aiohttp.ClientError, OSError) as error:
            if refusal := refusal_in(error):
                raise NotContacted(f"{self._url} {refusal}") from error
            raise _Failed(str(error) or type(error).__name__) from error

    async def _check(self, response: aiohttp.ClientResponse) -> None:
        if response.status == 400 or (response.status == 404 and self._begin.last_event_id):
            async with asyncio.timeout(self._limits.connect_s):
                found = _UNKNOWN.search(await response.content.read(4_096))
            if found:
                raise UnknownStreams(self._url, frozenset(found[1].decode().split(",")))
            raise _Refused
        if response.status == 404 or 300 <= response.status < 400:
            raise SourceError(f"{self._url} answers HTTP {response.status}: it has no such streams")
        if response.status != 200:
            raise _Failed(f"HTTP {response.status}", retry_after_s(response.headers))
        if response.content_type != "text/event-stream":
            raise _Failed(f"answered {response.content_type!r}, no event stream")

    async def _read(self, response: aiohttp.ClientResponse, backlog: "_Backlog") -> None:
        splitter = Splitter(self._limits.event_bytes)
        has_failed = False
        while True:
            async with asyncio.timeout(self._limits.stall_s):
                block = await response.content.readany()
            if not block:
                break
            for event in _parsed(splitter.complete(block)):
                if event.event == "error":
                    self.counts["errors"] += 1
                    has_failed = True
                    log.warning("%s reports an error: %.300s", self._url, event.data)
                    continue
                given = _fit_id(event.id)
                if len(event.data) > self._limits.event_bytes:
                    self.counts["oversized"] += 1
                else:
                    await backlog.put(RawEvent(given, event.data))
                if given:
                    self._begin = StreamStart(given, self._begin.moment)
            self.counts["oversized"] += splitter.pop_skipped()
        if has_failed:
            raise _Failed("the stream ended with an error")


class Splitter:
    """Splits a stream of bytes between events. An event that never ends, or exceeds `limit` bytes, is skipped.

    Comments do not count: however long they are, the event next to them is kept.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._rest = bytearray()
        self._is_skipping = False
        self._skipped = 0

    def complete(self, block: bytes) -> bytes:
        """All events that are complete by now; the rest is kept for the next block."""
        searched = max(0, len(self._rest) - 3)
        self._rest += block
        if self._is_skipping:
            ends = [at + len(line) for line in _BLANK_LINES if (at := self._rest.find(line)) >= 0]
            if not ends:
                del self._rest[:-3]
                return b""
            del self._rest[: min(ends)]
            self._is_skipping = False
            searched = 0
        end = max(at + len(line) if (at := self._rest.rfind(line, searched)) >= 0 else 0 for line in _BLANK_LINES)
        whole = bytes(self._rest[:end])
        del self._rest[:end]
        if len(self._rest) > self._limit:
            self._rest = bytearray(_COMMENT.sub(_shortened, self._rest))
        if len(self._rest) > self._limit:
            self._skipped += 1
            self._is_skipping = True
            del self._rest[:-3]
        return whole

    def pop_skipped(self) -> int:
        skipped, self._skipped = self._skipped, 0
        return skipped


class _Backlog:
    """A queue of events between the reading task and the caller, bounded in number and bytes."""

    def __init__(self, limits: StreamLimits) -> None:
        self._limits = limits
        self._events: deque[RawEvent] = deque()
        self._bytes = 0
        self._room = asyncio.Event()
        self._news = asyncio.Event()
        self.has_ended = False

    @property
    def is_over(self) -> bool:
        return self.has_ended and not self._events

    @property
    def _is_full(self) -> bool:
        return len(self._events) >= self._limits.queue_events or self._bytes >= self._limits.queue_bytes

    async def put(self, event: RawEvent) -> None:
        while self._is_full:
            self._room.clear()
            await self._room.wait()
        self._events.append(event)
        self._bytes += len(event.data)
        if len(self._events) >= self._limits.batch_events or self._is_full:
            self._news.set()

    def end(self) -> None:
        self.has_ended = True
        self._news.set()

    async def take(self) -> list[RawEvent]:
        count = self._limits.batch_events
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._limits.batch_s):
                while len(self._events) < count and not self._is_full and not self.has_ended:
                    self._news.clear()
                    await self._news.wait()
        taken = [self._events.popleft() for _ in range(min(count, len(self._events)))]
        self._bytes -= sum(len(event.data) for event in taken)
        self._room.set()
        return taken


def since_of(last_event_id: str, moment: datetime | None) -> datetime | None:
    """The moment from which to read so that nothing is missed, if the id of the last event is refused; None if unknown.

    The oldest of the topics' moments in the id counts, but at most a day before `moment`, that of the newest event that
    took effect.
    """
    try:
        parts = json.loads(last_event_id)
        stamps = [each["timestamp"] for each in parts if "timestamp" in each]
        oldest = min(datetime.fromtimestamp(stamp / 1000, UTC) for stamp in stamps)
    except (ValueError, TypeError, KeyError, OverflowError, OSError, RecursionError):
        return moment - _OVERLAP if moment else None
    return max(oldest, moment - _LONGEST_REPLAY) if moment else oldest


def resuming_id(last_event_id: str) -> str:
    """The id with which to go on behind the event that had this one, so that nothing is missed.

    In EventStreams' ids a topic has the millisecond after its newest event, though others of that moment may follow; or
    ``"offset": -1``, its end, if it had none so far: all edits since the wikis went over to its data center are missed.
    """
    try:
        parts = json.loads(last_event_id)
        newest = max(each["timestamp"] for each in parts if "timestamp" in each)
        for each in parts:
            if each.get("offset") == -1:
                each["timestamp"] = newest - 1000 * _OVERLAP.seconds
                del each["offset"]
            elif "timestamp" in each:
                each["timestamp"] -= _LATE_MS
    except (ValueError, TypeError, AttributeError, RecursionError):
        return last_event_id
    return json.dumps(parts)


def spread_pause_s(pause_s: float, wanted_s: float | None = None) -> float:
    """A random pause from half of `pause_s` to all of it, so that many clients do not come back at once; at least
    `wanted_s`, which is what the server demanded."""
    return max(pause_s * random.uniform(0.5, 1.0), wanted_s or 0.0)


def _shortened(comment: re.Match[bytes]) -> bytes:
    """Nothing; of a comment whose line may go on its first byte, and the end that is perhaps half of one."""
    return b":" + comment[1] if comment.end() == len(comment.string) and not comment[1].endswith(b"\n") else b""


def _parsed(events: bytes) -> Iterator[sseclient.Event]:
    try:
        events.decode()
    except UnicodeDecodeError:
        events = events.decode(errors="replace").encode()
    client = sseclient.SSEClient(iter((events,)))
    yield from client.events()


def _fit_id(given: str | None) -> str:
    return given if given and given.isprintable() and len(given) <= _LONGEST_ID else ""
