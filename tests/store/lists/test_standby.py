"""The logs on a hot standby: what is settled there is committed there, and a follower misses nothing (W-14, O-7)."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from support.standby import Pair, open_pair
from support.waiting import until

from weboid.store.db import standby
from weboid.store.db.migrate import migrate
from weboid.store.db.pool import Pool, open_pool
from weboid.store.lists.logs import LogEnds, LogPlace, find_ends, list_new_lines, record_settled
from weboid.store.urls.check import find_settled
from weboid.web.health.reader import HealthReader

_LINE = (
    "INSERT INTO change (bucket, host_key, url_key, day, before, after) VALUES (1, 1, %s, 100, 1, 3) RETURNING change"
)


@pytest.fixture(scope="module")
def pair(server_folder: Path) -> Iterator[tuple[Pair, ExitStack]]:
    with open_pair(server_folder / "pair") as opened:
        asyncio.run(_migrated(opened[0]))
        yield opened


async def _migrated(both: Pair) -> None:
    async with await psycopg.AsyncConnection.connect(both.primary) as connection:
        await migrate(connection)


async def _is_on_standby(pool: Pool) -> object:
    async with pool.viewing() as conn:
        return (await (await conn.execute("SELECT pg_is_in_recovery()")).fetchone() or ("",))[0]


async def test_what_is_only_shown_is_read_from_the_standby_while_that_is_up_to_date(
    pair: tuple[Pair, ExitStack], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standby, "_PAUSE_S", 0.05)
    both, _ = pair
    admin = make_conninfo(both.standby, user="postgres")
    async with (
        await psycopg.AsyncConnection.connect(admin, autocommit=True) as server,
        open_pool(both.primary, size=2, part="test") as pool,
    ):
        assert not await _is_on_standby(pool)
        read = standby.ReadStandby(both.standby, pool, most_lag_s=0.5, size=1)
        async with read.followed():
            await until(lambda: read.pool is not None)
            assert await _is_on_standby(pool)
            status = HealthReader(pool, lambda: 100, kept_s=0)
            seen = await status.find_status()
            assert seen.standby_lag_s is not None
            assert "standby" not in {alarm.kind for alarm in seen.alarms}
            async with pool.reading() as conn:
                assert await (await conn.execute("SELECT pg_is_in_recovery()")).fetchone() == (False,)
                await server.execute("SELECT pg_wal_replay_pause()")
                await conn.execute("CREATE TABLE more (number integer)")
            await until(lambda: read.pool is None)
            assert not await _is_on_standby(pool)
            seen = await status.find_status()
            assert ("standby", 100) in {(alarm.kind, alarm.since) for alarm in seen.alarms}
            await server.execute("SELECT pg_wal_replay_resume()")
            await until(lambda: read.pool is not None)
            assert await _is_on_standby(pool)
        assert not await _is_on_standby(pool)


async def test_a_follower_on_a_standby_sees_each_of_a_thousand_changes_once_through_a_fail_over(
    pair: tuple[Pair, ExitStack],
) -> None:
    both, running = pair
    seen: list[int] = []
    place = 0
    async with open_pool(both.standby, size=2, part="test") as behind:

        async def follow() -> None:
            nonlocal place
            async with behind.connection() as conn:
                until = await find_settled(conn)
                rows = await conn.execute(
                    "SELECT url_key, change FROM change WHERE change > %s AND change <= %s ORDER BY change",
                    (place, until),
                )
                seen.extend([row[0] async for row in rows])
                place = max(place, until)

        async with (
            open_pool(both.primary, size=2, part="test") as primary,
            await psycopg.AsyncConnection.connect(both.primary) as late,
        ):
            expected: list[int] = []
            for first in range(0, 700, 70):
                # One with a lower number is committed after others with higher ones.
                await late.execute(_LINE, [first])
                async with primary.connection() as conn:
                    await conn.cursor().executemany(_LINE, [[number] for number in range(first + 1, first + 70)])
                async with primary.reading() as conn:
                    assert not await record_settled(conn, patience_s=0)
                await follow()
                await late.commit()
                async with primary.reading() as conn:
                    assert await record_settled(conn, patience_s=0)
                await follow()
                expected += range(first, first + 70)
            await both.replayed()
            await follow()
            assert seen == expected
            # A kept answer is dropped by what is committed, settled or not.
            async with primary.connection() as conn:
                await conn.execute(_LINE, [700])
            await both.replayed()
            async with behind.reading() as conn:
                ends = await find_ends(conn)
                assert ends == LogEnds(LogPlace(place, 0), frozenset())
                assert [key.url_key for key in (await list_new_lines(conn, ends.place, limit=10)).urls] == [700]
        async with open_pool(both.primary, size=1, part="test", timeout_s=0.5) as primary:
            read = standby.ReadStandby(both.standby, primary, most_lag_s=10, size=1)
            async with read.followed():
                await until(lambda: read.pool is not None)
                running.close()
                await asyncio.sleep(2.5)
                assert await _is_on_standby(primary), "it goes on while the primary is away"
        await both.promote()
        async with behind.connection() as conn:
            await conn.cursor().executemany(_LINE, [[number] for number in range(701, 1_000)])
        await follow()
    assert seen == list(range(1_000))
