"""The pause between two requests to a host, as its server sees it: slow names, handshakes and queues included (C-3)."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import pairwise
from time import monotonic
from typing import cast

import pytest
from dnslib import RR, A, DNSRecord
from support.ftpserver import POLITE, answers, serve_ftp
from support.misbehaving import Act, Asked, Certificates, reply, serve

from weboid.checking.slots import StoreSlots
from weboid.checking.turns import LocalTurns, NotAsked, SharedTurns
from weboid.core.record.reasons import Reason
from weboid.net.fetch import fetch_answer
from weboid.net.ftp import fetch_ftp
from weboid.net.outbound import open_session
from weboid.net.sftp import fetch_sftp
from weboid.store.db.pool import open_pool

from .test_checker import NET

DELAY_S = 0.2
"""What is sent too early here is sent at the same moment as another request."""


def noted(times: list[float]) -> Callable[[Asked], Act]:
    """A server that writes down when it was asked, and wants a new connection for each request."""

    def script(asked: Asked) -> Act:
        times.append(monotonic())
        return reply(404, "Connection: close", body=b"no")

    return script


@asynccontextmanager
async def slow_way(port: int, pauses_s: Sequence[float]) -> AsyncIterator[int]:
    """The port of a way to a server on which each connection has its own pause before any byte passes."""
    tasks: set[asyncio.Task[None]] = set()
    left = list(pauses_s)

    async def passed_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65_536):
                writer.write(data)
        with contextlib.suppress(OSError):
            writer.close()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        tasks.add(task)
        back = None
        try:
            await asyncio.sleep(left.pop(0) if left else 0.0)
            there, back = await asyncio.open_connection("127.0.0.1", port)
            await asyncio.gather(passed_on(reader, back), passed_on(there, writer))
        finally:
            for each in (writer, back):
                if each is not None:
                    each.transport.abort()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)


def is_polite(times: list[float]) -> bool:
    """Whether the server saw no two requests at once; on a busy machine it reads late what was sent in time."""
    return min(later - earlier for earlier, later in pairwise(times)) > DELAY_S / 2


@pytest.mark.parametrize("workers", [1, 2])
async def test_a_slow_handshake_brings_no_two_requests_closer_those_of_two_workers_neither(
    database: str, certificates: Certificates, workers: int
) -> None:
    times: list[float] = []
    net = replace(NET, ca=certificates.ca_file)
    async with (
        serve(noted(times), tls=certificates.good("127.0.0.1")) as site,
        open_pool(database, size=4, part="test") as pool,
        slow_way(site.port, (DELAY_S, 0.0, DELAY_S, 0.0)) as port,
        open_session(net) as session,
    ):
        shared = [SharedTurns(StoreSlots(pool), DELAY_S) for _ in range(workers)]
        turns = [each.turn for each in shared] * 2 if workers > 1 else [LocalTurns(DELAY_S).turn] * 4
        checks = (fetch_answer(session, f"https://127.0.0.1:{port}/", turn=turn, get_only=True) for turn in turns)
        assert {answer.code for answer in await asyncio.gather(*checks)} == {404}
        for each in shared:
            await each.close()
    assert len(times) == 4
    assert is_polite(times)


class SlowNames(asyncio.DatagramProtocol):
    """A name server that answers everything with 127.0.0.1, late."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        asyncio.get_running_loop().call_later(3 * DELAY_S, self._answer, data, addr)

    def _answer(self, data: bytes, addr: tuple[str, int]) -> None:
        question = DNSRecord.parse(data)
        answer = question.reply()
        if question.q.qtype == 1:
            answer.add_answer(RR(question.q.qname, 1, rdata=A("127.0.0.1"), ttl=60))
        self.transport.sendto(answer.pack(), addr)


async def test_requests_that_waited_for_the_same_name_are_not_sent_together() -> None:
    times: list[float] = []
    turns = LocalTurns(DELAY_S)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(SlowNames, local_addr=("127.0.0.1", 0))
    net = replace(NET, dns=(f"127.0.0.1:{transport.get_extra_info('sockname')[1]}",))
    async with serve(noted(times)) as site, open_session(net) as session:
        checks = (fetch_answer(session, site.url(host="slow.test"), turn=turns.turn, get_only=True) for _ in range(3))
        assert {answer.code for answer in await asyncio.gather(*checks)} == {404}
    transport.close()
    assert len(times) == 3
    assert is_polite(times)


async def test_requests_that_waited_for_a_seat_are_not_sent_together() -> None:
    times: list[float] = []
    turns = LocalTurns(DELAY_S)
    async with serve(noted(times)) as site, open_session(replace(NET, connections=2)) as session:
        await session.seats.acquire()
        await session.seats.acquire()
        checks = [
            asyncio.create_task(fetch_answer(session, site.url(), turn=turns.turn, get_only=True)) for _ in range(3)
        ]
        await asyncio.sleep(3 * DELAY_S)
        session.seats.release()
        session.seats.release()
        await asyncio.gather(*checks)
    assert len(times) == 3
    assert is_polite(times)


async def test_ftp_and_sftp_sessions_leave_a_pause_after_each_other() -> None:
    begun: list[float] = []

    def script(line: bytes) -> Act:
        if not line:
            begun.append(monotonic())
        return answers(dict(POLITE) | {"MLST": "550 No such file", "SIZE": "550 No such file"})(line)

    turns = LocalTurns(DELAY_S)
    async with (
        serve_ftp(script) as site,
        open_session(replace(NET, answer_s=1.0)) as session,
        slow_way(site.port, (DELAY_S, 0.0)) as port,
    ):
        url = f"ftp://127.0.0.1:{port}/file"
        await asyncio.gather(*(fetch_ftp(session, url, turn=turns.turn) for _ in range(2)))
        await fetch_sftp(session, f"sftp://127.0.0.1:{port}/file", turn=turns.turn)
    assert len(begun) == 3
    assert is_polite(begun)


async def test_a_request_never_sent_holds_nobody_up_and_a_check_too_late_gives_its_turn_back() -> None:
    turns = LocalTurns(0.01)
    async with open_session(NET) as session, asyncio.timeout(60):
        for _ in range(3):  # nobody listens there
            answer = await fetch_answer(session, "http://127.0.0.1:9/", turn=turns.turn, get_only=True)
            assert answer.fault
    turns = LocalTurns(0.01)
    async with open_session(replace(NET, answer_s=0.0)) as session, asyncio.timeout(60):
        for _ in range(2):
            answer = await fetch_answer(session, "http://127.0.0.1:9/", turn=turns.turn, get_only=True)
            assert answer.fault is Reason.OUR_LIMIT


async def test_who_waits_for_a_request_that_is_not_sent_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weboid.checking.turns.QUEUE_S", 0.2)
    turns = LocalTurns(0.05)
    sending = await turns.turn("a.demo")
    assert sending
    with pytest.raises(NotAsked):
        await turns.turn("a.demo")
    sending.end()
    await turns.turn("a.demo")


async def test_a_crash_gives_its_hosts_back_to_other_workers(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weboid.checking.turns._HELD_S", 0.4)
    async with open_pool(database, size=4, part="test") as pool:
        one, other = SharedTurns(StoreSlots(pool), 0.1), SharedTurns(StoreSlots(pool), 0.1)
        await one.turn("a.demo")
        await asyncio.sleep(0.1)  # it is held now
        await one.close()
        monkeypatch.setattr(one, "_note", lambda host, note: None)
        async with asyncio.timeout(30):
            await other.turn("a.demo")
