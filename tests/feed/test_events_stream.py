"""Following a server of event streams that misbehaves: what arrives, where it resumes, how long it waits."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.sseserver import EventServer, Turn, as_sent, event_id, open_event_server

from weboid.errors import SourceError
from weboid.feed.stream import EventStream, RawEvent, Splitter, StreamLimits, StreamStart, resuming_id, since_of

QUICK = StreamLimits(first_pause_s=0.01, longest_pause_s=0.05, batch_s=0.05, stall_s=30.0)
STAY = Turn(end="stall")
MOMENT = datetime(2026, 11, 20, 10, tzinfo=UTC)


@asynccontextmanager
async def opened(server: EventServer, **limits: Any) -> AsyncIterator[EventStream]:
    async with aiohttp.ClientSession() as client:
        settings = StreamLimits(**{**{name: getattr(QUICK, name) for name in StreamLimits.__slots__}, **limits})
        yield EventStream(server.url, "a,b", client, user_agent="Weboid-test (me@example.org)", limits=settings)


async def first(stream: EventStream, count: int, begin: StreamStart = StreamStart()) -> list[RawEvent]:  # noqa: B008
    """So many events, and at most the rest of a batch."""
    found: list[RawEvent] = []
    async with aclosing(stream.batches(begin)) as batches:
        async for batch in batches:
            found += batch
            if len(found) >= count:
                return found
    return found


def numbers(events: list[RawEvent]) -> list[int]:
    return [json.loads(event.data) for event in events]


async def test_events_arrive_with_their_ids_from_a_stored_position_or_a_moment_on() -> None:
    raw = b": a comment\n:\n\n: another\n\nretry: 3\n\n"
    async with open_event_server([0, 1, 2], Turn(raw=raw, block=7)) as server, opened(server) as stream:
        events = [event async for batch in stream.batches(StreamStart(), once=True) for event in batch]
    assert events == [RawEvent(event_id(number), str(number)) for number in range(3)]
    asked = server.site.asked[0]
    assert asked.target == "/v2/stream/a,b"
    assert asked.headers["User-Agent"] == "Weboid-test (me@example.org)"
    assert asked.headers["Accept"] == "text/event-stream"
    async with open_event_server([0, 1, 2], STAY) as server, opened(server) as stream:
        assert numbers(await first(stream, 1, StreamStart(event_id(1), MOMENT))) == [2]
        assert server.site.asked[0].headers["Last-Event-ID"] == event_id(1)
        await first(stream, 1, StreamStart("", MOMENT))
    assert server.begins[1] == "2026-11-20T10:00:00Z"


async def test_a_connection_that_is_cut_tells_an_error_or_falls_silent_goes_on_behind_the_last_event() -> None:
    error = Turn(raw=b'event: error\ndata: [{"message": "broken"}]\n\n', count=0)
    cut = [Turn(count=2), Turn(count=2, end="abort"), Turn(count=2, end="mid-event")]
    turns = [*cut, error, Turn(count=1, end="stall"), STAY]
    async with open_event_server(range(9), *turns) as server, opened(server, stall_s=0.6) as stream:
        assert numbers(await first(stream, 9)) == list(range(9))
        assert stream.counts["errors"] == 1
    assert server.begins[:6] == ["", "1", "3", "5", "5", "6"]


async def test_a_data_center_that_was_silent_comes_with_all_since_the_newest_event() -> None:
    parts = [{"topic": "a", "timestamp": 9_000_000}, {"topic": "b", "offset": -1}, {"topic": "c", "offset": 5}]
    async with open_event_server([0], STAY) as server, opened(server) as stream:
        await first(stream, 1, StreamStart(json.dumps(parts)))
    asked = json.loads(server.site.asked[0].headers["Last-Event-ID"])
    assert asked == [{"topic": "a", "timestamp": 8_998_000}, {"topic": "b", "timestamp": 8_400_000}, parts[2]]


@pytest.mark.parametrize("odd", ["junk", "7", "[7]", "[]", event_id(7), '[{"timestamp": "x"}]', "[" * 100_000])
def test_an_id_of_another_kind_is_sent_as_it_is_and_names_no_moment(odd: str) -> None:
    assert resuming_id(odd) == odd
    assert since_of(odd, MOMENT) == MOMENT - timedelta(minutes=10)


async def test_a_settled_connection_that_ends_is_opened_again_at_once_and_a_young_one_is_not() -> None:
    never = {"first_pause_s": 600.0, "longest_pause_s": 600.0}
    turns = [*[Turn(count=1)] * 5, STAY]
    async with open_event_server(range(6), *turns) as server, opened(server, settled_s=0.0, **never) as stream:
        assert numbers(await first(stream, 6)) == list(range(6))
    async with open_event_server([0], Turn(count=1)) as server, opened(server, settled_s=60.0, **never) as stream:
        batches = stream.batches(StreamStart())
        for _ in range(4):
            await anext(batches)
        await batches.aclose()
    assert len(server.begins) == 1


async def test_a_busy_server_is_left_alone_as_long_as_it_wants_and_other_failures_are_tried_again() -> None:
    turns = [Turn(429, ("Retry-After: 0",)), Turn(503, ("Retry-After: 1",)), STAY]
    loop = asyncio.get_running_loop()
    async with open_event_server([0], *turns) as server, opened(server) as stream:
        before = loop.time()
        assert numbers(await first(stream, 1)) == [0]
        assert loop.time() - before >= 1.0
    assert stream.counts["failures"] == 2
    turns = [Turn(500), Turn(502), Turn(403), Turn(content_type="text/html")]
    async with open_event_server([0], *turns, STAY) as server, opened(server) as stream:
        assert numbers(await first(stream, 1)) == [0]
    assert (len(server.begins), stream.counts["failures"]) == (5, 4)


async def test_a_refused_position_falls_back_to_its_moment_and_where_that_is_refused_to_a_gap_that_is_counted() -> None:
    async with open_event_server([0], Turn(404), STAY) as server, opened(server) as stream:  # a topic that is no more
        assert numbers(await first(stream, 1, StreamStart("junk", MOMENT))) == [0]
        assert server.begins[1:] == ["2026-11-20T09:50:00Z"]
        assert (stream.counts["refused"], stream.counts["gaps"]) == (1, 0)
    async with open_event_server([0], Turn(400), Turn(400), STAY) as server, opened(server) as stream:
        assert numbers(await first(stream, 1, StreamStart(event_id(7), MOMENT))) == [0]
        assert stream.counts["gaps"] == 1
    assert server.begins == ["7", "2026-11-20T09:50:00Z", ""]


@pytest.mark.parametrize(
    ("status", "begin"), [(404, StreamStart("", MOMENT)), (301, StreamStart()), (400, StreamStart())]
)
async def test_what_no_other_try_can_help_is_an_error(status: int, begin: StreamStart) -> None:
    async with open_event_server([], Turn(status)) as server, opened(server) as stream:
        with pytest.raises(SourceError, match=f"HTTP {status}"):
            await first(stream, 1, begin)
    assert len(server.begins) == 1
    async with aiohttp.ClientSession() as client:
        with pytest.raises(SourceError, match="is no URL"):
            await first(EventStream("ftp://a", "b", client, user_agent="x", limits=QUICK), 1)


async def test_events_that_are_too_long_never_end_or_have_odd_bytes_and_ids_harm_no_others() -> None:
    events = [0, "x" * 300_000, 2, "y" * 200_000, 4]
    endless = Turn(raw=b"data: " + b"x" * 3_000_000, count=0, end="abort")
    async with open_event_server(events, endless, STAY) as server, opened(server, event_bytes=50_000) as stream:
        assert numbers(await first(stream, 3)) == [0, 2, 4]
    assert stream.counts["oversized"] == 3
    raw = b'data: "\xff\xfe"\n\n'
    raw += "".join(f"id: {bad}\ndata: 1\n\n" for bad in ("\0", "a\x1bb", "x" * 20_000, "\u2028")).encode()
    async with open_event_server([0], Turn(raw=raw, end="stall")) as server, opened(server) as stream:
        found = await first(stream, 6)
    assert [event.data for event in found] == ['"\ufffd\ufffd"', *["1"] * 4, "0"]
    assert [event.id for event in found[:5]] == [""] * 5


@pytest.mark.parametrize("comment", [b": note\n", b": note\r\n", b":\r", b":" + b"x" * 100_000 + b"\r\n"])
async def test_an_event_next_to_any_amount_of_comment_without_an_empty_line_is_kept(comment: bytes) -> None:
    raw = comment * (1_000_000 // len(comment))
    turn = Turn(raw=raw, block=4_099)
    async with open_event_server([0, 1], turn) as server, opened(server, event_bytes=50_000) as stream:
        assert numbers(await first(stream, 2)) == [0, 1]
    assert stream.counts["oversized"] == 0


async def test_batches_are_bounded_in_number_and_in_time() -> None:
    async with open_event_server(range(25), Turn(end="stall")) as server, opened(server, batch_events=10) as stream:
        batches = stream.batches(StreamStart())
        sizes = [len(await anext(batches)) for _ in range(6)]
        await batches.aclose()
    assert max(sizes) <= 10
    assert sum(sizes) == 25
    assert sizes[-1] == 0  # so that a caller that waits for the next batch can do something else


async def test_a_slow_reader_is_not_overrun() -> None:
    events = ["z" * 1000] * 600
    small = {"queue_bytes": 20_000, "batch_events": 10, "batch_s": 10.0}
    async with open_event_server(events) as server, opened(server, **small) as stream:
        found = 0
        async for batch in stream.batches(StreamStart(), once=True):
            found += len(batch)
            assert len(batch) <= 10
            if found < 50:
                await asyncio.sleep(0.01)
    assert found == 600


@given(st.lists(st.text(max_size=20), max_size=4), st.integers(1, 9), st.sampled_from([b"\n", b"\r\n", b"\r"]))
def test_however_a_stream_is_cut_into_blocks_its_events_are_the_same(texts: list[str], size: int, end: bytes) -> None:
    sent = b"".join(as_sent(number, json.dumps(text)) for number, text in enumerate(texts)).replace(b"\n", end)
    splitter = Splitter(10_000)
    pieces = [splitter.complete(sent[at : at + size]) for at in range(0, len(sent), size)]
    assert b"".join(pieces).startswith(sent[: len(sent) - 3])
    blank = end * 2
    assert all(piece.endswith(blank) for piece in pieces if piece.strip())


@pytest.mark.parametrize(
    ("last_event_id", "moment", "since"),
    [
        ("junk", None, None),
        ('[{"timestamp": 1795168800000}, {"offset": -1}]', None, MOMENT),
        ('[{"timestamp": 1795168800000}, {"timestamp": 1795168000000}]', None, MOMENT - timedelta(seconds=800)),
        ('[{"timestamp": 1000}]', MOMENT, MOMENT - timedelta(days=1)),
        ('[{"timestamp": 1e300}]', MOMENT, MOMENT - timedelta(minutes=10)),
    ],
)
def test_the_moment_of_a_refused_id(last_event_id: str, moment: datetime | None, since: datetime | None) -> None:
    assert since_of(last_event_id, moment) == since
