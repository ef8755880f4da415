"""The logs on a hot standby: what is settled there is committed there, and a follower misses nothing (W-14, O-7)."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
from support.standby import Pair, open_pair

from weboid.store.db.migrate import migrate
from weboid.store.db.pool import open_pool
from weboid.store.lists.logs import LogEnds, LogPlace, find_ends, list_new_lines, record_settled
from weboid.store.urls.check import find_settled

_LINE = (
    "INSERT INTO change (bucket, host_key, url_key, day, before, after) VALUES (1, 1, %s, 100, 1, 3) RETURNING change"
)


@pytest.fixture(scope="module")
def pair(server_folder: Path) -> Iterator[tuple[Pair, ExitStack]]:
    with open_pair(server_folder / "pair") as opened:
        yield opened


async def test_a_follower_on_a_standby_sees_each_of_a_thousand_changes_once_through_a_fail_over(
    pair: tuple[Pair, ExitStack],
) -> None:
    both, running = pair
    async with await psycopg.AsyncConnection.connect(both.primary) as connection:
        await migrate(connection)
    seen: list[int] = []
    place = 0
    async with open_pool(both.standby, size=2, part="test") as standby:

        async def follow() -> None:
            nonlocal place
            async with standby.connection() as conn:
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
            async with standby.reading() as conn:
                ends = await find_ends(conn)
                assert ends == LogEnds(LogPlace(place, 0), frozenset())
                assert [key.url_key for key in (await list_new_lines(conn, ends.place, limit=10)).urls] == [700]
        running.close()
        await both.promote()
        async with standby.connection() as conn:
            await conn.cursor().executemany(_LINE, [[number] for number in range(701, 1_000)])
        await follow()
    assert seen == list(range(1_000))
