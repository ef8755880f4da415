"""A crawler that is late for most of a minute says so by an alarm, which goes when it is in time again (C-16)."""

import asyncio

import pytest
from support.databases import until_locked_out
from support.stored import do
from support.waiting import until

from weboid.crawl import lag_watch
from weboid.crawl.lag_watch import LOOK_S, LagWatch
from weboid.mechanism import loop_lag
from weboid.mechanism.loop_lag import LoopLag
from weboid.remote.crawl.calls import Alarms
from weboid.store.db.pool import Pool, open_pool
from weboid.store.upkeep.alarm import AlarmKind, list_alarms, raise_alarm

DAY = 100


def new_watch(pool: Pool, lag: LoopLag) -> LagWatch:
    return LagWatch(Alarms(pool), lag, lambda: DAY, 700)


async def test_most_of_a_minute_raises_it_and_a_minute_in_time_lowers_it(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    for module in (lag_watch, loop_lag):
        monkeypatch.setattr(module, "monotonic", lambda: now[0])
    lag = LoopLag()
    async with open_pool(database, size=1) as pool:
        watch = new_watch(pool, lag)
        lag.count(0.4 * LOOK_S)
        await watch.look()
        assert await do(pool, list_alarms) == []
        lag.count(0.2 * LOOK_S)
        await watch.look()
        (alarm,) = await do(pool, list_alarms)
        assert (alarm.kind, alarm.subject, alarm.since) == ("loop-lag", "", DAY)
        assert "WEBOID_NET_CONNECTIONS lower (now 700)" in alarm.detail
        assert "24 s late" in alarm.detail
        now[0] += 0.9 * LOOK_S
        lag.count(2.0)
        now[0] += 0.9 * LOOK_S
        await watch.look()
        assert len(await do(pool, list_alarms)) == 1
        now[0] += 0.2 * LOOK_S
        await watch.look()
        assert await do(pool, list_alarms) == []


async def test_an_alarm_that_was_left_behind_is_lowered_once_but_none_of_others_after_that(database: str) -> None:
    async with open_pool(database, size=1) as pool:
        await do(pool, raise_alarm, AlarmKind.LOOP_LAG, "", DAY - 1, "left behind")
        watch = new_watch(pool, LoopLag())
        async with watch.open():
            pass
        assert await do(pool, list_alarms) == []
        await do(pool, raise_alarm, AlarmKind.LOOP_LAG, "", DAY, "of another crawler")
        async with watch.open():
            pass
        assert len(await do(pool, list_alarms)) == 1


@pytest.mark.parametrize("is_cancelled", [False, True])
async def test_a_statement_under_way_is_finished_at_the_end_of_a_round(database: str, is_cancelled: bool) -> None:
    lag = LoopLag()
    lag.count(LOOK_S)
    async with open_pool(database, size=1) as pool, open_pool(database, size=2) as other:
        async with other.connection() as blocking:
            await blocking.execute("LOCK TABLE alarm")

            async def short_round() -> None:
                async with new_watch(pool, lag).open():
                    await asyncio.sleep(0)

            ending = asyncio.create_task(short_round())
            await until_locked_out(database)
            assert not ending.done()
            if is_cancelled:
                ending.cancel()
                await asyncio.sleep(0.01)
        async with asyncio.timeout(60):
            await asyncio.wait([ending])
        assert ending.cancelled() == is_cancelled
        await until(lambda: do(pool, list_alarms))
