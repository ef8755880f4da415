"""Transactions that the database ends because two wait for each other: begun anew, counted, and never "away"."""

import asyncio

import pytest

from weboid.core.record.days import day_of
from weboid.errors import StoreConflict
from weboid.store.db.pool import Connection, Pool
from weboid.store.db.transactions import TRIES, repeated
from weboid.store.lists.alarms import find_health
from weboid.store.schedule.days import find_moment


class Crossing:
    """Two transactions that lock two leases in opposite orders, each the second one when both have the first."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._both = asyncio.Barrier(2)
        self.begun = 0

    async def cross(self, first: int, second: int) -> None:
        self.begun += 1
        async with self._pool.connection() as conn:
            await _lock(conn, first)
            if self.begun <= 2:
                await self._both.wait()
            await _lock(conn, second)
            await conn.execute("UPDATE lease SET epoch = epoch + 1 WHERE bucket IN (1, 2)")


async def _lock(conn: Connection, bucket: int) -> None:
    await conn.execute("SELECT FROM lease WHERE bucket = %s FOR UPDATE", (bucket,))


async def _epochs(pool: Pool) -> list[int]:
    async with pool.connection() as conn:
        rows = await conn.execute("SELECT epoch FROM lease WHERE bucket IN (1, 2)")
        return [epoch for (epoch,) in await rows.fetchall()]


async def test_one_of_two_that_wait_for_each_other_is_begun_anew_and_the_database_is_not_away(pool: Pool) -> None:
    crossing = Crossing(pool)
    cross = repeated(crossing.cross)
    await asyncio.gather(cross(1, 2), cross(2, 1))
    assert (crossing.begun, await _epochs(pool)) == (3, [2, 2])
    assert pool.away.times == 0


async def test_a_conflict_is_counted_and_an_alarm_until_the_day_after_the_next(pool: Pool) -> None:
    crossing = Crossing(pool)
    ends = await asyncio.gather(crossing.cross(1, 2), crossing.cross(2, 1), return_exceptions=True)
    [conflict] = [end for end in ends if end is not None]
    assert isinstance(conflict, StoreConflict)
    assert "deadlock detected" in str(conflict)
    async with pool.connection() as conn:
        today = day_of(await find_moment(conn))
        found = {
            day: [(alarm.kind, alarm.since) for alarm in (await find_health(conn, day, patience_s=9)).alarms]
            for day in (today, today + 1, today + 2)
        }
    assert found == {today: [("conflicts", today)], today + 1: [("conflicts", today)], today + 2: []}


async def test_what_conflicts_again_and_again_is_raised_in_the_end(pool: Pool) -> None:
    tries = 0

    @repeated
    async def in_vain() -> None:
        nonlocal tries
        tries += 1
        async with pool.connection() as conn:
            await conn.execute("DO $$ BEGIN RAISE serialization_failure; END $$")

    with pytest.raises(StoreConflict):
        await in_vain()
    assert tries == TRIES
    assert pool.away.times == 0
