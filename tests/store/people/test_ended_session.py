import time

from support.stored import do

from weboid.store.db.pool import Pool
from weboid.store.people.ended_session import delete_past_sessions, is_ended, record_ended


async def count(pool: Pool) -> int:
    async with pool.connection() as conn:
        row = await (await conn.execute("SELECT count(*) FROM ended_session")).fetchone()
    assert row
    return int(row[0])


async def test_an_ended_session_is_seen_by_all_and_may_be_ended_twice(pool: Pool) -> None:
    for until in (time.time() + 60, time.time() + 30):
        await do(pool, record_ended, "one", until)
    async with pool.connection() as conn:
        assert await is_ended(conn, "one")
        assert not await is_ended(conn, "another")
    assert await count(pool) == 1


async def test_rows_go_when_the_session_would_have_ended_by_any_clock(pool: Pool) -> None:
    now = time.time()
    async with pool.connection() as conn:
        for number, until in enumerate((now - 90_000, now - 8_000, now - 1_800, now + 60)):
            await record_ended(conn, f"session {number}", until)
        assert await delete_past_sessions(conn, limit=1) == 1
        assert await delete_past_sessions(conn, limit=10) == 1
        assert await delete_past_sessions(conn, limit=10) == 0
        assert await is_ended(conn, "session 2")
    assert await count(pool) == 2
