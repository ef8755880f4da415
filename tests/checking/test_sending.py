"""The pause between two requests to a host, as its server sees it: slow names, handshakes and queues included (C-3). At
least so many seconds between two requests to one host (C-3).
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import pairwise
from time import monotonic
from typing import cast

import pytest
from dnslib import RR, A, DNSRecord
from support.ftpserver import POLITE, answers, serve_ftp
from support.misbehaving import Act, Asked, Certificates, reply, serve
from support.waiting import until

from weboid.checking.slots import StoreSlots
from weboid.checking.turns import QUEUE_S, LocalTurns, NotAsked, SharedTurns
from weboid.core.record.reasons import Reason
from weboid.errors import StoreAway
from weboid.mechanism.tasks import cancel
from weboid.net.fetch import fetch_answer
from weboid.net.ftp import fetch_ftp
from weboid.net.outbound import open_session
from weboid.net.sftp import fetch_sftp
from weboid.store.db.pool import open_pool
from weboid.store.db.rows import HostKey
from weboid.store.schedule.turn import (
    SlotNote,
    SlotState,
    WantedSlot,
    delete_past,
    lease_slots,
    record_rest,
    record_slots,
)

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


async def _times(slots: LocalTurns | SharedTurns, host: str, count: int) -> list[float]:
    """When so many turns that are wanted at once were given, in seconds from now."""
    times: list[float] = []
    begun = monotonic()

    async def one() -> None:
        sending = await slots.turn(host)
        times.append(monotonic() - begun)
        if sending:
            sending.end()

    await asyncio.gather(*(one() for _ in range(count)))
    return sorted(times)


def _keeps(times: list[float], pause: float) -> bool:
    """Whether no turn came before its time. (On a busy machine one comes late, and the next one sooner after it.)"""
    # An event loop's timer may fire a clock tick early.
    return all(time >= turn * (pause - 0.005) for turn, time in enumerate(times))


async def test_different_hosts_do_not_wait_for_each_other_and_are_forgotten_when_their_pause_is_over() -> None:
    slots = LocalTurns(100.0)
    async with asyncio.timeout(60):
        await asyncio.gather(*(slots.turn(f"h{number}.demo") for number in range(100)))
    slots = LocalTurns(0.0)
    for number in range(100_050):
        await slots.turn(f"h{number}.demo")
    assert len(slots) < 100_001


async def test_a_host_that_wants_a_rest_is_not_waited_for_and_one_that_asks_for_slowness_asked_slowly() -> None:
    slots = LocalTurns(0.0)
    await slots.rest("a.demo", 3_600)
    with pytest.raises(NotAsked):
        await slots.turn("a.demo")
    await slots.turn("b.demo")
    slots = LocalTurns(0.0)
    slots.slow("a.demo", 0.05)
    assert _keeps(await _times(slots, "a.demo", 4), 0.05)
    slots.slow("a.demo", 0.01)
    assert slots.delay_of("a.demo") == 0.01


async def test_workers_do_not_wait_for_each_other_at_different_hosts(database: str) -> None:
    async with open_pool(database, size=4, part="test") as pool:
        slots = SharedTurns(StoreSlots(pool), 100.0)
        async with asyncio.timeout(60):
            await asyncio.gather(*(slots.turn(f"h{number}.demo") for number in range(500)))


async def test_a_rest_is_kept_by_all_workers(database: str) -> None:
    async with open_pool(database, size=4, part="test") as pool:
        one, other = SharedTurns(StoreSlots(pool), 0.05), SharedTurns(StoreSlots(pool), 0.05)
        await one.rest("a.demo", 3_600)
        for slots in (one, other):
            with pytest.raises(NotAsked):
                await slots.turn("a.demo")
        await other.turn("b.demo")


async def test_a_turn_is_taken_by_one_and_the_others_are_reported_when_to_come(database: str) -> None:
    async with open_pool(database, size=4, part="test") as pool, pool.connection() as conn:
        host, other = HostKey(1, 2), HostKey(1, 3)

        async def look() -> tuple[bool, bool, int]:
            state = (await lease_slots(conn, {host: WantedSlot(5.0, 8)}))[host]
            return state.is_ours, state.is_held, round(state.free_s)

        assert (await lease_slots(conn, {host: WantedSlot(100.0, 7)}))[host].is_ours
        assert await look() == (False, False, 100)
        assert (await lease_slots(conn, {other: WantedSlot(5.0, 9)}))[other].is_ours
        # A request that is on its way holds its host, and frees it earlier or later than was expected …
        await record_slots(conn, {host: SlotNote(300.0, True, 7)})
        assert await look() == (False, True, 300)
        await record_slots(conn, {host: SlotNote(7.0, False, 7)})
        assert await look() == (False, False, 7)
        # … but not before the end of a pause that was requested meanwhile.
        await record_slots(conn, {host: SlotNote(60.0, True, 7)})
        await record_rest(conn, host, 900.0)
        await record_slots(conn, {host: SlotNote(7.0, False, 7)})
        assert await look() == (False, False, 900)


async def test_a_turn_that_is_asked_for_again_is_the_same_and_notes_that_come_late_end_no_other(database: str) -> None:
    async with open_pool(database, size=4, part="test") as pool, pool.connection() as conn:
        host = HostKey(1, 2)

        async def take(claim: int, *, are_held: bool = False) -> tuple[bool, bool, int]:
            state = (await lease_slots(conn, {host: WantedSlot(50.0, claim)}, are_held=are_held))[host]
            return state.is_ours, state.is_held, round(state.free_s)

        assert (await take(7, are_held=True))[0]
        assert (await take(7, are_held=True))[0]
        assert await take(8) == (False, True, 50)
        await record_slots(conn, {host: SlotNote(0.0, False, 7)})
        assert (await take(8, are_held=True))[0]
        for late in (SlotNote(1.0, False, 7), SlotNote(300.0, True, 7)):
            await record_slots(conn, {host: late})
            assert await take(9) == (False, True, 50)
        await record_slots(conn, {host: SlotNote(3.0, False, 8)})
        assert await take(9) == (False, False, 3)


async def test_who_would_wait_too_long_takes_no_turn_from_others() -> None:
    turns = LocalTurns(QUEUE_S / 2)
    waiting = [asyncio.create_task(turns.turn("a.demo")) for _ in range(6)]
    await asyncio.sleep(0.05)
    assert [task.done() for task in waiting] == [True, False, False, True, True, True]
    for task in waiting[3:]:
        with pytest.raises(NotAsked):
            await task
    for task in waiting[1:3]:
        task.cancel()


async def test_hosts_that_are_free_again_are_forgotten(database: str) -> None:
    async with open_pool(database, size=4, part="test") as pool, pool.connection() as conn:
        await lease_slots(conn, {HostKey(1, 2): WantedSlot(-61.0, 1), HostKey(1, 3): WantedSlot(5.0, 1)})
        await delete_past(conn)
        assert await (await conn.execute("SELECT host_key FROM slot")).fetchall() == [(3,)]


class _AwaySlots:
    is_far = False

    def __init__(self) -> None:
        self.asked = 0

    async def exchange(
        self, notes: Mapping[HostKey, SlotNote], wanted: Mapping[HostKey, WantedSlot]
    ) -> dict[HostKey, SlotState]:
        self.asked += 1
        raise StoreAway("the database is away")

    async def rest(self, host: HostKey, seconds: float) -> None:
        raise StoreAway("the database is away")


async def test_who_ends_while_the_store_is_away_tries_once_more_and_waits_no_longer() -> None:
    slots = _AwaySlots()
    turns = SharedTurns(slots, 0.0)
    turns.slow("a.demo", 1.0)
    waiting = asyncio.create_task(turns.turn("a.demo"))
    await until(lambda: slots.asked)
    asked = slots.asked
    await turns.close()
    assert slots.asked == asked + 1
    await cancel(waiting)
