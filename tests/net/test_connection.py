"""One connection with a server that sends its head slowly, in tiny pieces, or never to an end (C-1, C-13)."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterable

import pytest
from support.misbehaving import Asked, serve

from weboid.config import NetConfig
from weboid.core.record.reasons import Reason
from weboid.net import connection, engine
from weboid.net.exchange import Reply, Request
from weboid.net.faults import fault_of
from weboid.net.response_parser import ResponseParser
from weboid.net.watch import open_watch

from .test_engine import open_engine

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Long: " + b"y" * 1500 + b"\r\n\r\n"
ANSWER_S = 100.0
"""No test waits for so long: whatever is given up is given up for another reason."""


async def sent(pieces: Iterable[bytes], pause_s: float) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece
        await asyncio.sleep(pause_s)


def one_by_one(data: bytes) -> list[bytes]:
    return [bytes([byte]) for byte in data]


async def asked(settings: NetConfig, act: AsyncIterator[bytes]) -> Reply:
    async with serve(lambda _: act) as site, open_engine(settings) as sending:
        return await sending.send(Request("GET", site.url(), {}), ANSWER_S)


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A head is looked at every 0.3 s: it must have grown by 96 bytes."""
    monkeypatch.setattr(connection, "HEAD_S", 0.3)


@pytest.mark.parametrize(
    "slow",
    [
        one_by_one(HEAD),
        [HEAD[:500], *one_by_one(HEAD[500:])],
        [b"\r\n"] * 1000,
        [b"HTTP/1.1 102 Wait\r\n\r\n", *one_by_one(HEAD)],
        [b"HTTP/1.1 200 OK\r\nX: y\r\n", *[b" z\r\n"] * 200],
    ],
)
@pytest.mark.usefixtures("hurried")
async def test_a_head_that_comes_too_slowly_is_given_up_as_timeout(settings: NetConfig, slow: Iterable[bytes]) -> None:
    with pytest.raises(TimeoutError) as raised:
        await asked(settings, sent(slow, 0.02))
    fault = fault_of(raised.value)
    assert fault is not None
    assert (fault.reason, fault.reached) == (Reason.TIMEOUT, True)


@pytest.mark.usefixtures("hurried")
async def test_a_server_may_think_before_its_head_and_between_the_steps_on_the_way(settings: NetConfig) -> None:
    async def thinking() -> AsyncIterator[bytes]:
        await asyncio.sleep(0.4)
        yield b"HTTP/1.1 102 Wait\r\n\r\n"
        await asyncio.sleep(0.4)
        yield HEAD

    assert (await asked(settings, thinking())).code == 200


@pytest.mark.usefixtures("hurried")
async def test_a_head_that_comes_steadily_is_waited_for(settings: NetConfig) -> None:
    pieces = [HEAD[at : at + 100] for at in range(0, len(HEAD), 100)]
    assert (await asked(settings, sent(pieces, 0.03))).code == 200


class Counted(ResponseParser):
    """Counts the pieces that all replies came in."""

    __slots__ = ()
    pieces = 0

    def take(self, data: bytes) -> bool:
        Counted.pieces += 1
        return super().take(data)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> type[Counted]:
    monkeypatch.setattr(engine, "ResponseParser", Counted)
    monkeypatch.setattr(Counted, "pieces", 0)
    return Counted


async def test_bytes_that_come_fast_one_by_one_are_read_together(settings: NetConfig, counted: type[Counted]) -> None:
    assert (await asked(settings, sent(one_by_one(HEAD), 0.0))).code == 200
    assert counted.pieces < len(HEAD) / 10


async def test_many_short_replies_are_no_tiny_pieces(settings: NetConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "PAUSE_S", ANSWER_S)

    def short(asked: Asked) -> bytes:
        return b"HTTP/1.1 204 No\r\n\r\n"

    async with serve(short) as site, open_engine(settings) as sending:
        for _ in range(3 * connection.SMALL_READS):
            assert (await sending.send(Request("GET", site.url(), {}), ANSWER_S / 4)).code == 204
    assert site.connections == 1


async def test_a_connection_that_opens_too_late_to_be_in_time_ends_by_its_limit() -> None:
    """A busy event loop is late: the time to open has passed before the connection is open, and so the limit."""
    ours, theirs = socket.socketpair()
    with theirs:
        ours.setblocking(False)
        line = connection.HttpConnection("mill.demo", None, open_watch())
        waiting = line.exchange(
            b"GET / HTTP/1.1\r\n\r\n", ResponseParser("GET", line_bytes=99, body_bytes=99), open_at=0, end_at=1
        )
        line.connect(ours)
        with pytest.raises(TimeoutError):
            await waiting
    assert line.is_closed
