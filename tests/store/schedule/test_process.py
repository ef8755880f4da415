"""The rows of parts: who has an exclusive role, and what becomes of those that are silent."""

import asyncio

import pytest
from support.stored import do

from weboid.store.db.pool import Pool, open_pool
from weboid.store.schedule.process import (
    EXPIRY_S,
    ProcessRole,
    RunningProcess,
    SeenProcess,
    delete_process,
    list_processes,
    record_seen,
    take_role,
)


def part(name: str, role: ProcessRole = ProcessRole.FEED, host: str = "one") -> RunningProcess:
    return RunningProcess(role, name, host, f"machine of {host}", 7, "1.0")


async def _take(pool: Pool, who: RunningProcess) -> SeenProcess | None:
    return await do(pool, take_role, who)


async def _silent(pool: Pool, name: str, seconds: float) -> None:
    async with pool.connection() as conn:
        await conn.execute("UPDATE part SET seen = now() - make_interval(secs => %s) WHERE name = %s", (seconds, name))


async def _names(pool: Pool) -> list[str]:
    return [each.name for each in await do(pool, list_processes)]


async def test_of_an_exclusive_role_there_is_one_on_all_hosts_of_a_store(pool: Pool, second_database: str) -> None:
    taken = await asyncio.gather(*(_take(pool, part(name)) for name in "abcdefgh"))
    assert [other is None for other in taken].count(True) == 1
    [first] = await _names(pool)
    other = await _take(pool, part("i", host="two"))
    assert other
    assert (other.name, other.host, other.pid) == (first, "one", 7)
    assert await _take(pool, part("j", ProcessRole.EVENTS)) is None
    async with open_pool(second_database, size=2) as second:
        assert await _take(second, part("k")) is None
    assert await _names(pool) == ["j", first]
    await do(pool, delete_process, part(first))
    assert await _take(pool, part("i", host="two")) is None


async def test_who_is_silent_loses_the_role_and_learns_it(pool: Pool) -> None:
    await _take(pool, part("a"))
    await _silent(pool, "a", EXPIRY_S - 5)
    assert await _take(pool, part("b"))
    await _silent(pool, "a", EXPIRY_S + 5)
    assert await _take(pool, part("b")) is None
    async with pool.connection() as conn:
        assert not await record_seen(conn, part("a"), "", {})
        assert await record_seen(conn, part("b"), "", {})
    other = await _take(pool, part("a"))
    assert other
    assert other.name == "b"


async def test_who_is_known_to_be_gone_has_no_role(pool: Pool) -> None:
    await _take(pool, part("a"))
    async with pool.connection() as conn:
        assert await take_role(conn, part("b"), lambda other: other.machine == "machine of two")
        assert await take_role(conn, part("b"), lambda other: other.machine == "machine of one") is None
    assert await _names(pool) == ["b"]


@pytest.mark.parametrize("text", ["checks 5 of 9", "a\0b\n\x1b[31mc", "ü" * 500])
async def test_what_a_part_tells_is_kept_as_one_line(pool: Pool, text: str) -> None:
    await _take(pool, part("a"))
    async with pool.connection() as conn:
        assert await record_seen(conn, part("a"), text, {"lag_s": 0.5, "none": float("nan")})
        (seen,) = await list_processes(conn)
    assert seen.doing.isprintable()
    assert seen.doing[:1] == text[:1]
    assert len(seen.doing) <= 200
    assert seen.figures == {"lag_s": 0.5}
    assert seen.is_running


async def test_rows_of_who_ended_without_a_word_go_after_a_month(pool: Pool) -> None:
    for name in ("old", "older", "late"):
        await _take(pool, part(name, ProcessRole.CRAWL))
    for name, days in (("old", 31), ("older", 40), ("late", 29)):
        await _silent(pool, name, days * 86_400)
    await _take(pool, part("other", ProcessRole.WEB))
    assert await _names(pool) == ["late", "other"]


async def test_a_process_that_begins_is_the_successor_of_one_that_is_gone(pool: Pool) -> None:
    for name in ("older", "old", "lively"):
        await _take(pool, part(name, ProcessRole.CRAWL))
    for name, seconds in (("older", 8_000), ("old", 6_000), ("lively", 10)):
        await _silent(pool, name, seconds)
    await _take(pool, part("new", ProcessRole.CRAWL))
    assert await _names(pool) == ["lively", "new", "old"]
    await _take(pool, part("newer", ProcessRole.CRAWL))
    assert await _names(pool) == ["lively", "new", "newer"]


async def test_a_process_that_begins_where_one_was_killed_has_its_place_and_not_that_of_another_machine(
    pool: Pool,
) -> None:
    await _take(pool, part("lost", ProcessRole.CRAWL, "two"))
    await _silent(pool, "lost", 7_200)
    for name in ("alongside", "killed"):
        await do(pool, take_role, part(name, ProcessRole.CRAWL), lambda other: other.name == "killed")
    # "alongside" has taken the place of the one that was lost; it is lost again.
    await _take(pool, part("lost", ProcessRole.CRAWL, "two"))
    await _silent(pool, "lost", 7_200)
    await do(pool, take_role, part("new", ProcessRole.CRAWL), lambda other: other.name == "killed")
    assert await _names(pool) == ["alongside", "lost", "new"]


async def test_a_process_that_ends_in_order_leaves_no_row_of_the_one_whose_place_it_had(pool: Pool) -> None:
    for name in ("killed", "alongside", "new"):
        await _take(pool, part(name, ProcessRole.CRAWL))
    async with pool.connection() as conn:
        await conn.execute("UPDATE part SET since = now() - interval '1 day'")
        await conn.execute("UPDATE part SET seen = now() - interval '1 hour' WHERE name = 'killed'")
        await conn.execute("UPDATE part SET since = now() - interval '59 minutes 10 seconds' WHERE name = 'new'")
        await delete_process(conn, part("alongside", ProcessRole.CRAWL))
        assert [each.name for each in await list_processes(conn)] == ["killed", "new"]
        await delete_process(conn, part("new", ProcessRole.CRAWL))
        assert await list_processes(conn) == []
