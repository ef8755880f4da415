"""What was done on each day (O-5): added up over crawlers and feeders, shown for some weeks, kept for a year."""

import asyncio

from support.observations import FINE, LOST
from support.stored import do, open_wiki

from weboid.store.db.pool import Connection, Pool
from weboid.store.pages.page_pass import record_end, record_start
from weboid.store.schedule.days import DayFigure, delete_past_totals, list_totals, record_totals


async def test_what_is_added_for_a_day_is_its_sum(pool: Pool) -> None:

    async def add(*days: int) -> None:
        await do(pool, record_totals, {(day, figure): 2 for day in days for figure in reversed(DayFigure)})

    await asyncio.gather(*(add(*days) for days in ((100, 101), (101, 100), (101,)) * 5))
    async with pool.connection() as conn:
        await record_totals(conn, {(100, DayFigure.HELD): 0})
        await record_totals(conn, {})
        totals = await list_totals(conn, 101, days=2)
        assert {figure: totals[100][figure] for figure in DayFigure} == dict.fromkeys(DayFigure, 20)
        assert totals[101][DayFigure.HELD] == 30
        assert (await list_totals(conn, 101, days=1)).keys() == {101}
        assert await list_totals(conn, 99, days=50) == {}


async def test_a_round_and_a_pass_are_added_up(database: str) -> None:
    links = [f"https://h{number}.demo/" for number in range(4)]
    async with open_wiki(database, {1: links}, day=100) as stored:
        await stored.round(100, lambda url, day: LOST if url == links[0] else FINE)
        async with stored.pool.connection() as conn:
            await record_start(conn, stored.wiki.wiki, "", 100)
            await record_end(conn, stored.wiki.wiki, 100, 101)
            totals = await list_totals(conn, 101, days=2)
    assert totals[100] == {DayFigure.WORKING: 3, DayFigure.FAILING: 1}
    assert totals[101][DayFigure.PASSES] == 1


async def test_days_over_a_year_ago_go(conn: Connection) -> None:
    await record_totals(conn, {(day, DayFigure.WORKING): 1 for day in (99, 100, 500)})
    await delete_past_totals(conn, 500)
    assert (await list_totals(conn, 500, days=500)).keys() == {100, 500}
