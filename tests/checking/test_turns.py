"""At least so many seconds between two requests to one host (C-3)."""

import asyncio
from collections.abc import Mapping
from time import monotonic

import pytest

from weboid.checking.slots import StoreSlots
from weboid.checking.turns import QUEUE_S, LocalTurns, NotAsked, SharedTurns
from weboid.errors import StoreAway
from weboid.mechanism.tasks import cancel
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


async def test_requests_to_one_host_are_a_pause_apart_even_if_all_come_at_once() -> None:
    assert _keeps(await _times(LocalTurns(0.05), "a.demo", 5), 0.05)


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
    async with asyncio.timeout(30):
        while slots.asked == 0:
            await asyncio.sleep(0.01)
    asked = slots.asked
    await turns.close()
    assert slots.asked == asked + 1
    await cancel(waiting)
