"""What people did and how much they may do (H-2, H-4), on a real database with many connections at once."""

import asyncio
from collections import Counter
from datetime import date

from weboid.core.record.days import day_of
from weboid.store.db.pool import Connection, Pool, open_pool
from weboid.store.people import audit


async def attempt(pool: Pool, action: audit.Action, subject: str, *, daily: int = 100) -> audit.Refusal | None:
    """Does something in a transaction, if it may be done."""
    async with pool.connection() as conn:
        refusal = await audit.find_refusal(conn, action, subject, daily=daily)
        if refusal is None:
            await asyncio.sleep(0)  # others get their turn between asking and noting
            await audit.record_audit(conn, action, subject, f"Name of {subject}", "http://a.demo/")
        return refusal


async def wait(pool: Pool, seconds: int) -> None:
    """As if so much time had gone by since all that was done."""
    async with pool.connection() as conn:
        await conn.execute("UPDATE audit SET moment = moment - make_interval(secs => %s)", (seconds,))


async def test_of_many_attempts_at_once_one_a_minute_passes(pool: Pool) -> None:
    found = await asyncio.gather(*(attempt(pool, audit.Action.REPORT, "7") for _ in range(30)))
    assert Counter(found) == {None: 1, audit.Refusal.MINUTE: 29}
    await wait(pool, 58)
    assert await attempt(pool, audit.Action.REPORT, "7") in (
        audit.Refusal.MINUTE,
        None,
    )  # unless the test took two seconds
    await wait(pool, 61)
    assert await attempt(pool, audit.Action.REPORT, "7") is None


async def test_the_minute_is_a_persons_own_and_each_kind_of_action_has_one(pool: Pool) -> None:
    assert await attempt(pool, audit.Action.REPORT, "7") is None
    assert await attempt(pool, audit.Action.REPORT_DOMAIN, "7") is audit.Refusal.MINUTE
    assert await attempt(pool, audit.Action.REPORT_DOMAIN, "8") is None
    for action in (audit.Action.REPLACE, audit.Action.CHECK, audit.Action.REMOVE_REPORT):
        assert await attempt(pool, action, "7") is None
        assert await attempt(pool, action, "7") is audit.Refusal.MINUTE
    assert await attempt(pool, audit.Action.REMOVE_REPLACEMENT, "7") is audit.Refusal.MINUTE


async def test_of_many_attempts_at_once_as_many_pass_as_a_day_has(database: str) -> None:
    async def process(number: int) -> list[audit.Refusal | None]:
        async with open_pool(database, size=4, part=f"process {number}") as pool:
            attempts = (attempt(pool, audit.Action.REPORT, f"{number}-{person}", daily=17) for person in range(15))
            return await asyncio.gather(*attempts)

    found = await asyncio.gather(*(process(number) for number in range(3)))
    assert Counter(each for part in found for each in part) == {None: 17, audit.Refusal.DAY: 28}


async def test_reports_and_replacements_share_a_day_while_removals_and_checks_have_their_own(pool: Pool) -> None:
    assert await attempt(pool, audit.Action.REPORT, "1", daily=2) is None
    assert await attempt(pool, audit.Action.REPLACE, "2", daily=2) is None
    assert await attempt(pool, audit.Action.REPORT_DOMAIN, "3", daily=2) is audit.Refusal.DAY
    assert await attempt(pool, audit.Action.CHECK, "3", daily=2) is None
    assert await attempt(pool, audit.Action.REMOVE_REPORT, "3", daily=2) is None
    await wait(pool, 86_400)
    assert await attempt(pool, audit.Action.REPORT_DOMAIN, "3", daily=2) is None


async def test_people_without_a_name_have_a_day_of_their_own_and_what_came_to_nothing_is_free(pool: Pool) -> None:
    found = [await attempt(pool, audit.Action.REMOVE_REPORT, audit.NOBODY, daily=3) for _ in range(4)]
    assert found == [None, None, None, audit.Refusal.DAY]
    assert await attempt(pool, audit.Action.REMOVE_REPORT, "7", daily=3) is None
    async with pool.connection() as conn:
        assert await audit.find_refusal(conn, audit.Action.REPORT, "7", daily=1) is None
        await audit.record_audit(conn, audit.Action.REPORT, "7", "Name", "http://a.demo/")
        await conn.rollback()
    assert await attempt(pool, audit.Action.REPORT, "7", daily=0) is audit.Refusal.DAY
    assert await attempt(pool, audit.Action.REPORT, "7", daily=1) is None


async def test_who_is_blocked_may_do_nothing_until_unblocked(pool: Pool) -> None:
    async with pool.connection() as conn:
        await audit.record_block(conn, "7", "Vandal", 100, blocker="1", reason="spam")
        await audit.record_block(conn, "8", "Other", 101, blocker="1", reason="")
        await audit.record_block(conn, "7", "Vandal", 100, blocker="2", reason="more spam")
        block = await audit.find_block(conn, "7")
        assert block is not None
        assert (block.blocker, block.reason, block.day) == ("2", "more spam", 100)
        assert [each.subject for each in await audit.list_blocks(conn)] == ["8", "7"]
    for action in (audit.Action.REPORT, audit.Action.REPLACE, audit.Action.CHECK, audit.Action.REMOVE_REPORT):
        assert await attempt(pool, action, "7") is audit.Refusal.BLOCKED
    async with pool.connection() as conn:
        assert await audit.delete_block(conn, "7")
        assert not await audit.delete_block(conn, "7")
    assert await attempt(pool, audit.Action.REPORT, "7") is None


async def test_the_log_is_kept_for_a_year(conn: Connection) -> None:
    kept = await audit.record_audit(conn, audit.Action.CHECK, "7", "Anna", "http://new.demo/")
    old = [await audit.record_audit(conn, audit.Action.CHECK, "7", "Anna", f"http://{each}.demo/") for each in range(5)]
    await conn.execute("UPDATE audit SET moment = '2026-11-20T23:59:59Z' WHERE audit = ANY(%s)", (old,))
    await conn.execute("UPDATE audit SET moment = '2026-11-21T00:00:01Z' WHERE audit = %s", (kept,))
    day = day_of(date(2026, 11, 21)) + audit.AUDIT_DAYS
    assert await audit.expire_audit(conn, day - 1, limit=9) == 0
    assert [await audit.expire_audit(conn, day, limit=3) for _ in range(3)] == [3, 2, 0]
    assert [entry.audit for entry in await audit.list_audit(conn)] == [kept]
