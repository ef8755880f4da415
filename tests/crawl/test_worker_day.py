"""Which day it is: by the database's clock, and only if that can be right (C-16)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from support.observations import FINE
from support.stored import open_wiki
from support.waiting import until

from weboid.core.record.days import day_of
from weboid.core.record.moment import Moment
from weboid.crawl import worker_day
from weboid.crawl.worker_day import WorkerDay
from weboid.errors import DayRefused
from weboid.remote.crawl.calls import Days
from weboid.remote.http.rpc import OneTransaction
from weboid.store.db.pool import Pool, open_pool
from weboid.store.schedule.days import find_lived, find_moment
from weboid.store.upkeep.alarm import list_alarms


@asynccontextmanager
async def clock_ahead(database: str, days: int) -> AsyncIterator[Pool]:
    """A pool on the database, whose clock is so many days ahead of this machine's."""
    async with open_pool(database, size=2, part="test") as pool, pool.connection() as conn:
        await conn.execute("CREATE SCHEMA IF NOT EXISTS ahead")
        await conn.execute(
            "CREATE OR REPLACE FUNCTION ahead.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS "
            f"$$ SELECT pg_catalog.clock_timestamp() + interval '{days} days' $$".encode()
        )
        await conn.execute(
            b"DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = ahead, pg_catalog, public', "
            b"current_database()); END $$"
        )
    async with open_pool(database, size=2, part="test") as pool:
        yield pool


async def alarms(pool: Pool) -> list[tuple[str, int]]:
    async with pool.connection() as conn:
        return [(alarm.kind, alarm.since) for alarm in await list_alarms(conn)]


async def lived(pool: Pool) -> int | None:
    async with pool.connection() as conn:
        return await find_lived(conn)


async def given(pool: Pool, *days: int) -> None:
    for day in days:
        await WorkerDay(Days(pool), partial(Moment, day)).require()


async def test_days_may_pass_be_skipped_or_come_again_within_two(pool: Pool) -> None:
    assert await lived(pool) is None
    await given(pool, 100, 101, 103, 101, 103, 105)
    assert await lived(pool) == 105


@pytest.mark.parametrize("day", [97, 103, 120, 32_000, 0])
async def test_a_day_far_from_the_last_is_refused_until_it_is_confirmed(pool: Pool, day: int) -> None:
    await given(pool, 100)
    with pytest.raises(DayRefused, match=r"2017-04-11.*--confirm-day"):
        await given(pool, day)
    assert (await lived(pool), await alarms(pool)) == (100, [("clock", 100)])
    await WorkerDay(Days(pool), lambda: Moment(day)).confirm()
    assert (await lived(pool), await alarms(pool)) == (day, [])
    await given(pool, day)


async def test_an_alarm_is_over_when_the_clock_is_right_again(pool: Pool) -> None:
    await given(pool, 100)
    with pytest.raises(DayRefused):
        await given(pool, 130)
    await given(pool, 101)
    assert await alarms(pool) == []


async def test_all_workers_go_by_the_clock_of_the_database(database: str) -> None:
    async with clock_ahead(database, 40) as pool:
        async with pool.connection() as conn:
            moment = await find_moment(conn)
        expected = datetime.now(UTC) + timedelta(days=40)
        assert abs(moment - expected) < timedelta(minutes=1)
        days = WorkerDay(Days(pool))
        with pytest.raises(RuntimeError):
            days.now()
        await days.require()
        assert days.now() in (Moment(day_of(moment), moment.hour), Moment(day_of(expected), expected.hour))
        assert await lived(pool) == days.today()


async def test_a_clock_that_steps_does_not_take_a_round_along(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_day, "READ_S", 0.01)
    async with clock_ahead(database, 0) as pool:
        days = WorkerDay(Days(pool))
        await days.require()
        today = days.today()
        async with clock_ahead(database, 20) as ahead:
            days._days = Days(ahead)
            keeping = asyncio.create_task(days.keep())
            await until(lambda: alarms(pool))
            assert days.today() in (today, today + 1)
            with pytest.raises(DayRefused):
                await days.require()
            async with pool.connection() as conn:
                await Days(OneTransaction(conn)).confirm(today + 20)
            await until(lambda: days.today() >= today + 20)
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)


@pytest.mark.parametrize(("ahead", "says", "accepted"), [(5, True, True), (5, False, False), (-5, True, False)])
async def test_others_confirm_a_pause_but_no_step_back(database: str, ahead: int, says: bool, accepted: bool) -> None:
    asked: list[int] = []

    async def witnessed(day: int) -> bool:
        asked.append(day)
        return says

    async with clock_ahead(database, 0) as pool:
        await WorkerDay(Days(pool)).require()
    async with clock_ahead(database, ahead) as pool:
        days = WorkerDay(Days(pool), witnessed=witnessed)
        if accepted:
            await days.require()
            assert asked == [days.today()]
        else:
            with pytest.raises(DayRefused):
                await days.require()
            assert len(asked) == (ahead > 0)


async def test_a_clock_before_all_days_is_refused(database: str) -> None:
    async with clock_ahead(database, -20_000) as pool:
        with pytest.raises(DayRefused, match="is wrong"):
            await WorkerDay(Days(pool)).require()
        assert await alarms(pool) == [("clock", 0)]


async def test_two_workers_agree_on_the_first_day(database: str) -> None:
    async with open_wiki(database, {1: ["http://a.demo/"]}) as wiki:
        await asyncio.gather(*(WorkerDay(Days(wiki.pool)).require() for _ in range(4)))
        assert (await wiki.round(100, lambda url, day: FINE)).written == 1
